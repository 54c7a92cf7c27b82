import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { eventSchema, jobSchema, stageResultSchema } from "../../orchestrator/bridge/protocol.ts";

const folder = fileURLToPath(new URL("../fixtures/protocol/", import.meta.url));

function json(name: string): unknown {
  return JSON.parse(readFileSync(folder + name, "utf8"));
}

describe("the golden lines that both sides read", () => {
  const lines = readFileSync(`${folder}events.jsonl`, "utf8").trimEnd().split("\n");

  it("hold one event of every kind, and each is valid", () => {
    const kinds = lines.map((line) => eventSchema.parse(JSON.parse(line)).event);
    const known = eventSchema.options.map((option) => option.shape.event.value);
    expect(new Set(kinds)).toEqual(new Set(known));
  });

  it("hold valid jobs and a valid result", () => {
    expect(jobSchema.parse(json("job.json")).kind).toBe("stages");
    expect(jobSchema.parse(json("resolve-job.json")).kind).toBe("resolve");
    expect(() => stageResultSchema.parse(json("result.json"))).not.toThrow();
  });

  it("refuse an unknown kind and an unknown field", () => {
    expect(eventSchema.safeParse({ event: "finished", t: 1 }).success).toBe(false);
    expect(eventSchema.safeParse({ event: "job_done", t: 1, note: "x" }).success).toBe(false);
  });
});

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type ChannelItem, createEventLines } from "../../orchestrator/bridge/event-lines.ts";

const folder = fileURLToPath(new URL("../fixtures/cases/23-noisy-event-stream/", import.meta.url));
const expected = JSON.parse(readFileSync(`${folder}expected-events.json`, "utf8"));

function read(chunks: Iterable<Uint8Array>): ChannelItem[] {
  const lines = createEventLines();
  return [...Array.from(chunks, (chunk) => lines.push(chunk)).flat(), ...lines.end()];
}

describe("event lines (case 23)", () => {
  it.each(["stdout.bin", "stdout-ascii.bin"])("finds the six events of %s, whole or byte by byte", (name) => {
    const bytes = readFileSync(folder + name);
    for (const chunks of [[bytes], Array.from(bytes, (byte) => Uint8Array.of(byte))]) {
      const events = read(chunks).flatMap((item) => (item.kind === "event" ? [item.value] : []));
      expect(events).toEqual(expected);
    }
  });

  it("keeps every other line as noise", () => {
    const noise = read([readFileSync(`${folder}stdout.bin`)]).filter((item) => item.kind === "noise");
    expect(noise).toHaveLength(7);
  });

  it("leaves the words NaN and Infinity alone inside texts", () => {
    const line = Buffer.from(
      '{"event":"warning","message":"loss is NaN, -Infinity \\"NaN\\"","x":-Infinity}\n',
    );
    expect(read([line])).toEqual([
      { kind: "event", value: { event: "warning", message: 'loss is NaN, -Infinity "NaN"', x: "-Infinity" } },
    ]);
  });
});

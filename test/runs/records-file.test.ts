import { createHash } from "node:crypto";
import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { RunError } from "../../orchestrator/errors.ts";
import { readRecordsFile, repairRecordsFile } from "../../orchestrator/runs/records-file.ts";
import { parseLines } from "../../orchestrator/scoring/records.ts";

const TORN = fileURLToPath(new URL("../fixtures/cases/22-torn-results-tail/results.jsonl", import.meta.url));
const GOOD_SHA256 = "7f8dfef42b01ac3f3f42588b696a9a0b79e787339618f6959cd1f764ddfb9a02";

const line = z.strictObject({ id: z.string(), order: z.string(), text: z.string() });

function parse(bytes: Uint8Array, file: string) {
  return parseLines(bytes, file, { schema: line, keyOf: (row) => [row.id, row.order] });
}

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "palate-records-"));
  file = join(folder, "results.jsonl");
  await copyFile(TORN, file);
});

afterEach(() => rm(folder, { recursive: true }));

describe("repairRecordsFile", () => {
  it("keeps the 3 whole records, byte for byte, and drops the torn tail", async () => {
    const { records, droppedBytes } = await repairRecordsFile(file, parse);
    expect(records.map((each) => each.id)).toEqual(["i-1", "i-2", "i-3"]);
    expect(droppedBytes).toBe(296 - 234);
    expect(
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    ).toBe(GOOD_SHA256);
  });

  it("leaves a file that further records can be appended to", async () => {
    await repairRecordsFile(file, parse);
    for (const id of ["i-4", "i-5", "i-6"]) {
      await appendFile(file, `${JSON.stringify({ id, order: "seeded", text: "ANSWER: A" })}\n`);
    }
    const ids = (await readRecordsFile(file, parse)).map((each) => each.id);
    expect(ids).toEqual(["i-1", "i-2", "i-3", "i-4", "i-5", "i-6"]);
  });

  it("has nothing to do the second time", async () => {
    await repairRecordsFile(file, parse);
    expect(await repairRecordsFile(file, parse)).toMatchObject({ droppedBytes: 0 });
  });

  it("takes a missing file as no records yet", async () => {
    expect(await repairRecordsFile(join(folder, "none.jsonl"), parse)).toEqual({
      records: [],
      droppedBytes: 0,
    });
  });

  it("changes nothing in a file with a bad line in the middle", async () => {
    const before = `not a record\n${await readFile(TORN, "utf8")}`;
    await writeFile(file, before);
    await expect(repairRecordsFile(file, parse)).rejects.toThrow(/line 1 is not a record/);
    expect(await readFile(file, "utf8")).toBe(before);
  });
});

describe("readRecordsFile", () => {
  it("refuses a torn file", async () => {
    await expect(readRecordsFile(file, parse)).rejects.toThrow(/half a line after byte 234/);
  });

  it("refuses a missing file", async () => {
    await expect(readRecordsFile(join(folder, "none.jsonl"), parse)).rejects.toThrow(RunError);
  });
});

import { describe, expect, it } from "vitest";
import { RunError } from "../../orchestrator/errors.ts";
import { parseRecords } from "../../orchestrator/scoring/records.ts";
import { record } from "./make-items.ts";

const LINES = (["published", "reversed"] as const).map((order) =>
  JSON.stringify(record("q1", order, "A\u2028B 👍")),
);

function parse(text: string) {
  return parseRecords(new TextEncoder().encode(text), "records.jsonl");
}

describe("parseRecords", () => {
  it("reads whole lines, also with a line separator inside a string", () => {
    const text = `${LINES.join("\n")}\n`;
    expect(parse(text)).toMatchObject({ torn: false, goodBytes: Buffer.byteLength(text) });
    expect(parse(text).records.map((each) => each.text)).toEqual(["A\u2028B 👍", "A\u2028B 👍"]);
  });

  it("reads an empty file as no records", () => {
    expect(parse("")).toEqual({ records: [], goodBytes: 0, torn: false });
  });

  it("takes a last record without line end as torn even if it parses", () => {
    expect(parse(LINES.join("\n"))).toMatchObject({ torn: true, records: [{ order: "published" }] });
  });

  it.each([
    ["half a line", '{"question_id":'],
    ["another layout", '{"question_id":"q1"}'],
    ["an extra key", JSON.stringify({ ...record("q2", "published", "A"), score: 1 })],
    ["an empty line", ""],
  ])("throws on %s in the middle and names the line", (_, bad) => {
    expect(() => parse(`${LINES[0]}\n${bad}\n${LINES[1]}\n`)).toThrow(/records\.jsonl, line 2 /);
    expect(() => parse(`${LINES[0]}\n${bad}\n${LINES[1]}\n`)).toThrow(RunError);
  });

  it("throws on broken UTF-8 in the middle and names the line", () => {
    const bytes = Buffer.from(`${LINES.join("\n")}\n`);
    bytes[bytes.indexOf(0xf0) + 1] = 0x41;
    expect(() => parseRecords(bytes, "records.jsonl")).toThrow(/line 1 /);
  });

  it("throws on a repeated presentation and names both lines", () => {
    expect(() => parse(`${LINES[0]}\n${LINES[1]}\n${LINES[0]}\n`)).toThrow(/line 3 repeats .* of line 1/);
  });
});

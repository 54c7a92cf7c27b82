import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { jsonl, question, read, refusal, temporaryFolder } from "./cases.ts";

async function refusedRows(rows: readonly unknown[]) {
  const file = join(await temporaryFolder(), "questions.jsonl");
  await writeFile(file, jsonl(rows));
  return refusal(read(file));
}

test.each([
  [
    "an answer that is not the letter of answer_index",
    { answer: "A" },
    "answer_index: is 1, but answer is A",
  ],
  ["a cell that is not method and domain", { cell: "parallel_engineering" }, "cell: is"],
  ["a third candidate", { choices: ["a", "b", "c"] }, "choices: "],
  ["an unknown domain", { domain: "law" }, 'domain: expected one of "engineering"|"research", here "law"'],
  ["an empty text", { query: "" }, "query: "],
  ["a missing column", { canary: undefined }, "canary: is missing"],
  ["a column too many", { note: "x" }, "note: is not part of the format"],
  ["no step", { prefix_steps: 0 }, "prefix_steps: "],
  ["a text where a number belongs", { prefix_steps: "3" }, "prefix_steps: "],
])("%s is refused with line, column and value", async (_, changes, text) => {
  const { message } = await refusedRows([question({ id: "q-00" }), question(changes)]);
  expect(message).toContain("questions.jsonl line 2, ");
  expect(message.replace(' (id "q-01")', "")).toContain(text);
});

test("an id that comes twice is refused with both places", async () => {
  const { message } = await refusedRows([question(), question({ id: "q-02" }), question()]);
  expect(message).toMatch(/line 3, id \(id "q-01"\): stands already in .* line 1/);
});

test("ids of the object prototype are ids like others", async () => {
  const file = join(await temporaryFolder(), "questions.jsonl");
  await writeFile(
    file,
    jsonl(["constructor", "__proto__", "toString"].map((id) => question({ id, task_id: id }))),
  );
  expect((await read(file)).questions).toHaveLength(3);
});

test("a canary that changes inside the set is refused", async () => {
  const { message } = await refusedRows([question(), question({ id: "q-02", canary: "OTHER" })]);
  expect(message).toContain('line 2, canary (id "q-02")');
});

test("a lone surrogate is named even where the row breaks other rules", async () => {
  const { facts } = await refusedRows([question({ query: "half \ud83d", answer: "C" })]);
  expect(facts["columns"]).toEqual(["query", "answer"]);
});

test("of many faults ten are told and the others counted", async () => {
  const error = await refusedRows(
    Array.from({ length: 25 }, (_, n) => question({ id: `q-${n}`, query: "" })),
  );
  expect(error.message.split("\n")).toHaveLength(12);
  expect(error.message).toContain("and 15 more faults");
  expect(error.facts["ids"]).toHaveLength(25);
});

test("a file without rows is refused", async () => {
  expect((await refusedRows([])).message).toContain("holds no question");
});

test("rows that are not objects are refused", async () => {
  const { message } = await refusedRows([[], null, "text"]);
  for (const line of [1, 2, 3]) expect(message).toContain(`line ${line}: expected object`);
});

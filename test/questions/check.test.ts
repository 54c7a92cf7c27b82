import { expect, test } from "vitest";
import { checkQuestions } from "../../orchestrator/questions/check.ts";
import type { Question, QuestionSet } from "../../orchestrator/questions/schema.ts";
import { question } from "./cases.ts";

function setOf(questions: readonly Question[]): QuestionSet {
  return { source: "test", digest: "d", questions, reasons: new Map([["q-1", "So."]]) };
}

const RESEARCH = { domain: "research", method: "parallel", cell: "parallel_research" };

test("cells, domains, tasks, answers and reasons are counted", () => {
  const report = checkQuestions(
    setOf([
      question({ id: "q-1" }),
      question({ id: "q-2", answer: "A", answer_index: 0 }),
      question({ id: "q-3", task_id: "constructor", ...RESEARCH }),
    ]),
  );
  expect(report).toMatchObject({
    canary: "CANARY-TEST-00000000",
    questions: 3,
    tasks: 2,
    reasons: 1,
    domains: { engineering: 2, research: 1 },
    cells: { detour_engineering: 2, parallel_research: 1 },
    answers: { A: 1, B: 2 },
  });
});

test("lengths are in characters, with interpolated quantiles", () => {
  const queries = ["a", "\u{1F44D}\u{1F44D}", "abc", "abcd", "abcdefghij"];
  const { lengths } = checkQuestions(setOf(queries.map((query, n) => question({ id: `q-${n}`, query }))));
  expect(lengths.query).toEqual({ min: 1, median: 3, mean: 4, p95: expect.closeTo(8.8), max: 10 });
});

test("the rate of longer supported candidates counts ties as not longer", () => {
  const pairs = [
    ["longer text", "short"],
    ["short", "longer text"],
    ["equal", "sizes"],
    ["\u{1F44D}\u{1F44D}", "abc"],
  ];
  const rows = pairs.map((choices, n) => question({ id: `q-${n}`, choices, answer: "A", answer_index: 0 }));
  expect(checkQuestions(setOf(rows)).longer_option_rate).toBe(0.25);
});

test("the report is plain JSON", () => {
  const report = checkQuestions(setOf([question({ choices: ["Read  it.\n", "read it."] })]));
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  expect(report.warnings).toHaveLength(1);
});

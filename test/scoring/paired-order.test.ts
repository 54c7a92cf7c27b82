import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { NotComparableError } from "../../orchestrator/errors.ts";
import { scorePairs } from "../../orchestrator/scoring/paired-order.ts";
import { summarise } from "../../orchestrator/scoring/summarise.ts";
import type { CheckpointSummary } from "../../orchestrator/scoring/summary-schema.ts";
import { casePath, caseRows } from "./case-rows.ts";
import { question, record } from "./make-items.ts";

interface ItemRow {
  id: string;
  answer_index: number;
}

interface ReplyRow {
  id: string;
  order: "seeded" | "reversed";
  text: string;
}

function scoreCase(replies: string) {
  const questions = caseRows<ItemRow>("19-reversed-order/items.jsonl").map((row) => ({
    ...question(row.id, `task of ${row.id}`),
    answer_index: row.answer_index,
  }));
  const records = caseRows<ReplyRow>(`19-reversed-order/${replies}`).map((row) =>
    record(row.id, row.order === "seeded" ? "published" : "reversed", row.text),
  );
  return summarise(scorePairs(questions, records));
}

/** A summary in the layout of the case, whose word for the published order is "seeded". */
function inCaseLayout(summary: CheckpointSummary) {
  const order = (given: CheckpointSummary["per_order"]["published"]) => ({
    ...given,
    accuracy: given.correct / given.n,
    errors: 0,
  });
  return {
    n_items: summary.n,
    overall: {
      seeded: order(summary.per_order.published),
      reversed: order(summary.per_order.reversed),
      two_order_mean_accuracy: summary.mean_accuracy,
      both_correct: summary.both_orders,
      both_correct_rate: summary.both_orders_rate,
      paired_outcomes: summary.paired_outcomes,
      position_choices: {
        seeded: summary.position_choices.published,
        reversed: summary.position_choices.reversed,
      },
    },
  };
}

function expected(name: string): unknown {
  return JSON.parse(readFileSync(casePath(`19-reversed-order/${name}`), "utf8"));
}

const QUESTIONS = [question("q1", "t1", "A"), question("q2", "t2", "B")];
const RECORDS = QUESTIONS.flatMap(({ id }) => [
  record(id, "published", "ANSWER: A"),
  record(id, "reversed", "ANSWER: A"),
]);

describe("scorePairs", () => {
  it("turns the letters of the reversed order back", () => {
    expect(inCaseLayout(scoreCase("replies.jsonl"))).toEqual(expected("expected-summary.json"));
  });

  it("gives a model that always says A nothing", () => {
    const summary = scoreCase("always-a.jsonl");
    expect(inCaseLayout(summary)).toEqual(expected("expected-always-a.json"));
    expect(summary.first_position_rate).toBe(1);
  });

  it("keeps no answer apart from wrong, with its reason", () => {
    const records = RECORDS.map((each, index) =>
      index === 0 ? { ...each, text: "<think>ANSWER: A" } : each,
    );
    expect(scorePairs(QUESTIONS, records)[0]?.published).toMatchObject({
      outcome: "no_answer",
      reason: "thinking not closed",
    });
  });

  it("refuses the same records given twice", () => {
    expect(() => scorePairs(QUESTIONS, [...RECORDS, ...RECORDS])).toThrow(NotComparableError);
  });

  it("refuses a second sample, which would let one order be answered twice", () => {
    const again = { ...record("q1", "published", "ANSWER: B"), sample: 1 };
    expect(() => scorePairs(QUESTIONS, [...RECORDS, again])).toThrow(
      /More than one record .*"q1" in published/,
    );
  });

  it("refuses a question with one order only and names it", () => {
    expect(() => scorePairs(QUESTIONS, RECORDS.slice(0, 3))).toThrow(/no record in reversed order: "q2"/);
  });

  it("refuses records of questions that were not asked", () => {
    expect(() => scorePairs(QUESTIONS.slice(0, 1), RECORDS)).toThrow(/not asked: "q2"/);
  });

  it("refuses records of two adapters under one name", () => {
    const records = RECORDS.map((each, index) => ({ ...each, adapter_sha256: index < 2 ? "aa" : "bb" }));
    expect(() => scorePairs(QUESTIONS, records)).toThrow(/2 checkpoints are mixed/);
  });

  it("refuses a question that is asked twice", () => {
    expect(() => scorePairs([...QUESTIONS, question("q1", "t1")], RECORDS)).toThrow(/asked twice/);
  });
});

import { describe, expect, it } from "vitest";
import { summarise } from "../../orchestrator/scoring/summarise.ts";
import { checkpointSummarySchema } from "../../orchestrator/scoring/summary-schema.ts";
import { drawItems } from "./make-items.ts";

const TWELVE_TASKS = ["2", "21", "r0", "2-", "22", "0", "1r", "2", "0", "2", "20", "-"];

describe("summarise", () => {
  it("does not depend on the order of the items", () => {
    const items = drawItems(TWELVE_TASKS);
    expect(summarise(items.toReversed())).toEqual(summarise(items));
  });

  it("fits its schema, so that no number is NaN", () => {
    for (const items of [[], drawItems(["2"]), drawItems(["--"]), drawItems(TWELVE_TASKS)]) {
      const summary = summarise(items);
      expect(checkpointSummarySchema.parse(JSON.parse(JSON.stringify(summary)))).toEqual(summary);
    }
  });

  it("obeys both = mean accuracy - half the share right in one order only", () => {
    const { both_orders_rate, mean_accuracy, paired_outcomes, n } = summarise(drawItems(TWELVE_TASKS));
    const oneRight = (paired_outcomes.CW + paired_outcomes.WC) / (2 * n);
    expect(both_orders_rate).toBeCloseTo((mean_accuracy ?? Number.NaN) - oneRight, 12);
  });

  it("uses the clustered t interval from 10 tasks on", () => {
    expect(summarise(drawItems(TWELVE_TASKS))).toMatchObject({
      ci_method: "clustered_t",
      note: null,
      df: 11,
    });
  });

  it("uses a Wilson interval below 10 tasks and says so", () => {
    const { ci_method, note } = summarise(drawItems(["20", "2", "0"]));
    expect({ ci_method, note }).toMatchObject({
      ci_method: "wilson_effective_n",
      note: expect.stringContaining("few tasks (3)"),
    });
  });

  it("gives 0 % a width, taking each task as one item", () => {
    const { ci } = summarise(drawItems(Array.from({ length: 20 }, () => "000")));
    expect(ci?.[0]).toBe(0);
    expect(ci?.[1]).toBeCloseTo(0.1611, 4);
  });

  it("fills the table of three outcomes an order", () => {
    const { outcome_table } = summarise(drawItems(["21r0-"]));
    expect(outcome_table.right).toEqual({ right: 1, wrong: 1, no_answer: 0 });
    expect(outcome_table.no_answer).toEqual({ right: 0, wrong: 0, no_answer: 1 });
  });

  it("counts no-answer reasons over presentations", () => {
    expect(summarise(drawItems(["2-"])).no_answer_reasons).toEqual([
      { reason: "no bare letter and no last line ANSWER: A or B", count: 2 },
    ]);
  });
});

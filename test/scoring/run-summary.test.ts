import { describe, expect, it } from "vitest";
import { NotComparableError } from "../../orchestrator/errors.ts";
import { runSummarySchema, summariseRun } from "../../orchestrator/scoring/run-summary.ts";
import { drawItems } from "./make-items.ts";

const FOLDS = [
  { fold: 0, items: { base: drawItems(["20", "1"], "a"), distilled: drawItems(["22", "1"], "a") } },
  { fold: 1, items: { base: drawItems(["0", "r"], "b"), distilled: drawItems(["2", "r"], "b") } },
];

describe("summariseRun", () => {
  it("reports each fold and all folds together", () => {
    const { folds, pooled } = summariseRun({ folds: FOLDS });
    expect(folds.map(({ fold, n }) => ({ fold, n }))).toEqual([
      { fold: 0, n: 3 },
      { fold: 1, n: 2 },
    ]);
    expect(pooled.base).toMatchObject({ n: 5, both_orders_rate: 0.2, mean_accuracy: 0.4 });
    expect(pooled.distilled).toMatchObject({ n: 5, both_orders_rate: 0.6 });
    expect(pooled.delta_distilled?.estimate).toBeCloseTo(0.4, 12);
  });

  it("has null for a checkpoint that was not made and for its difference", () => {
    const { pooled } = summariseRun({ folds: FOLDS });
    expect(pooled).toMatchObject({ calibrated: null, delta: null });
  });

  it("survives being written and read", () => {
    const summary = summariseRun({ folds: FOLDS });
    expect(runSummarySchema.parse(JSON.parse(JSON.stringify(summary)))).toEqual(summary);
  });

  it("refuses to pool a checkpoint that one fold lacks", () => {
    const folds = [...FOLDS, { fold: 2, items: { base: drawItems(["2"], "c") } }];
    expect(() => summariseRun({ folds })).toThrow(/Only 2 of 3 folds .* distilled/);
  });

  it("refuses a question that two folds hold out", () => {
    const folds = [{ fold: 0, items: { base: drawItems(["2"]) } }];
    expect(() => summariseRun({ folds: [...folds, ...folds] })).toThrow(NotComparableError);
  });
});

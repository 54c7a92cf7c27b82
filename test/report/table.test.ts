import { describe, expect, it } from "vitest";
import { renderRunTable } from "../../orchestrator/report/table.ts";
import { summariseRun } from "../../orchestrator/scoring/run-summary.ts";
import { drawItems } from "../scoring/make-items.ts";

const BASE = ["20", "11", "r", "0", "2", "22", "01", "r", "0", "2", "00"];
const DISTILLED = ["22", "11", "r", "2", "2", "22", "01", "2", "0", "2", "20"];
const CALIBRATED = ["22", "21", "2", "2", "2", "02", "21", "2", "0", "2", "2-"];

function fold(index: number, prefix: string) {
  const items = {
    base: drawItems(BASE, prefix),
    distilled: drawItems(DISTILLED, prefix),
    calibrated: drawItems(CALIBRATED, prefix),
  };
  return { fold: index, items };
}

const TABLE = renderRunTable(summariseRun({ folds: [fold(0, "a"), fold(1, "b")] }));

describe("renderRunTable", () => {
  it("shows each checkpoint a fold and pooled, then the differences", () => {
    expect(TABLE).toMatchInlineSnapshot(`
      "        checkpoint   n  both %        95 % CI  mean %  CC/CW/WC/WW  first %  no answer %
      ----------------------------------------------------------------------------------------
      fold 0  base        16    31.3   [0.1, 62.4]     46.9      5/3/2/6     53.1          0.0
              distilled   16    56.3  [22.1, 90.4]     68.8      9/3/1/3     56.3          0.0
              calibrated  16    68.8  [48.5, 89.0]     75.0     11/2/0/3     56.7          6.3
      ----------------------------------------------------------------------------------------
      fold 1  base        16    31.3   [0.1, 62.4]     46.9      5/3/2/6     53.1          0.0
              distilled   16    56.3  [22.1, 90.4]     68.8      9/3/1/3     56.3          0.0
              calibrated  16    68.8  [48.5, 89.0]     75.0     11/2/0/3     56.7          6.3
      ----------------------------------------------------------------------------------------
      pooled  base        32    31.3   [0.1, 62.4]     46.9    10/6/4/12     53.1          0.0
              distilled   32    56.3  [22.1, 90.4]     68.8     18/6/2/6     56.3          0.0
              calibrated  32    68.8  [48.5, 89.0]     75.0     22/4/0/6     56.7          6.3
      ----------------------------------------------------------------------------------------

      calibrated - base: +37.5 points [5.1, 69.9], p = 0.070, gained 14, lost 2, tasks 11
      distilled - base: +25.0 points [1.3, 48.7], p = 0.125, gained 8, lost 0, tasks 11
      fold 0: calibrated - base: +37.5 points [5.1, 69.9], p = 0.070, gained 7, lost 1, tasks 11
      fold 0: distilled - base: +25.0 points [1.3, 48.7], p = 0.125, gained 4, lost 0, tasks 11
      fold 1: calibrated - base: +37.5 points [5.1, 69.9], p = 0.070, gained 7, lost 1, tasks 11
      fold 1: distilled - base: +25.0 points [1.3, 48.7], p = 0.125, gained 4, lost 0, tasks 11
      warning: calibrated gave no answer 6.3 % of the time; a tolerant reading finds 0 more
        4 x no bare letter and no last line ANSWER: A or B

      both: right in the published and in the reversed order; a coin gets 25 %, "always A" gets 0 %
      mean: over the two orders; first: share of A among the letters; no answer counts as wrong
      intervals and p are by task and take these checkpoints as given (no training noise)
      "
    `);
  });

  it("stays within 100 columns at the size of the full release", () => {
    const drawing = Array.from({ length: 205 }, (_, index) => ["20", "11", "r-", "22"][index % 4] ?? "");
    const items = {
      base: drawItems(drawing),
      calibrated: drawItems(drawing.toReversed()),
    };
    const wide = renderRunTable(summariseRun({ folds: [{ fold: 0, items }] }));
    expect(Math.max(...wide.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it("warns of a checkpoint that often gives no answer", () => {
    expect(TABLE).toContain("warning: calibrated gave no answer");
    expect(TABLE).not.toContain("warning: base");
  });

  it("renders a run without calibration", () => {
    const items = { base: drawItems(["2"]), distilled: drawItems(["2"]) };
    expect(renderRunTable(summariseRun({ folds: [{ fold: 0, items }] }))).not.toContain("calibrated");
  });
});

import { deltaLines, noAnswerLines } from "./table-lines.ts";
import { interval, percent } from "./table-numbers.ts";
import type { CheckpointRow, Comparison, RunTable } from "./table-shape.ts";

/** The result of a run as plain text of at most 100 columns, ending in a line end. */
export function renderRunTable(summary: RunTable): string {
  const folds = summary.folds.map((each) => ({ name: `fold ${each.fold}`, comparison: each }));
  // With one fold, pooled says the same again.
  const parts = folds.length === 1 ? folds : [...folds, { name: "pooled", comparison: summary.pooled }];
  const groups = parts.map(({ name, comparison }) => rowsOf(name, comparison));
  const lines = [
    ...layOut(groups),
    "",
    ...deltaLines("pooled", summary.pooled),
    ...(folds.length === 1 ? [] : folds.flatMap(({ name, comparison }) => deltaLines(name, comparison))),
    ...noAnswerLines(summary.pooled),
    ...footer(groups.flat().some((row) => row[4]?.endsWith("w"))),
  ];
  return `${lines.join("\n")}\n`;
}

const HEADER = [
  "",
  "checkpoint",
  "n",
  "both %",
  "95 % CI",
  "mean %",
  "CC/CW/WC/WW",
  "first %",
  "no answer %",
];

type Row = readonly string[];

function rowsOf(name: string, comparison: Comparison): Row[] {
  const { base, distilled, calibrated } = comparison;
  const named = { base, distilled, calibrated };
  const rows = Object.entries(named).flatMap(([checkpoint, row]) =>
    row === null ? [] : [cells(checkpoint, row)],
  );
  return rows.map((row, index) => [index === 0 ? name : "", ...row]);
}

function cells(checkpoint: string, row: CheckpointRow): Row {
  const { CC, CW, WC, WW } = row.paired_outcomes;
  return [
    checkpoint,
    String(row.n),
    percent(row.both_orders_rate),
    `${interval(row.ci)}${row.ci_method === "wilson_effective_n" ? "w" : " "}`,
    percent(row.mean_accuracy),
    `${CC}/${CW}/${WC}/${WW}`,
    percent(row.first_position_rate),
    percent(row.no_answer_rate),
  ];
}

const LEFT_COLUMNS = 2;

function layOut(groups: readonly (readonly Row[])[]): string[] {
  const widths = HEADER.map((title, column) =>
    Math.max(title.length, ...groups.flat().map((row) => (row[column] ?? "").length)),
  );
  const line = (row: Row) =>
    row
      .map((cell, column) => pad(cell, column, widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const rule = "-".repeat(widths.reduce((total, width) => total + width + 2, -2));
  return [line(HEADER), ...groups.flatMap((rows) => [rule, ...rows.map(line)]), rule];
}

function pad(cell: string, column: number, width: number): string {
  return column < LEFT_COLUMNS ? cell.padEnd(width) : cell.padStart(width);
}

function footer(hasWilson: boolean): string[] {
  const wilson = "w: Wilson interval on the effective number of items (few tasks, or 0 % / 100 %)";
  return [
    "",
    'both: right in the published and in the reversed order; a coin gets 25 %, "always A" gets 0 %',
    "mean: over the two orders; first: share of A among the letters; no answer counts as wrong",
    "intervals and p are by task and take these checkpoints as given (no training noise)",
    ...(hasWilson ? [wilson] : []),
  ];
}

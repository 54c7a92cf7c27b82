import { interval, percent, pValue, signedPoints } from "./table-numbers.ts";
import type { CheckpointRow, Comparison, DeltaRow } from "./table-shape.ts";

/** Above this share of presentations without an answer a score says more about format than about taste. */
const NO_ANSWER_ALARM = 0.02;

/** The differences of a fold, or of all folds together: one line each, and one for what limits the interval. */
export function deltaLines(name: string, comparison: Comparison): string[] {
  const { delta, delta_distilled } = comparison;
  const prefix = name === "pooled" ? "" : `${name}: `;
  return [
    ...(delta === null ? [] : deltaLine(`${prefix}calibrated - base`, delta)),
    ...(delta_distilled === null ? [] : deltaLine(`${prefix}distilled - base`, delta_distilled)),
  ];
}

/** One line a checkpoint that left too many presentations without an answer. */
export function noAnswerLines({ base, distilled, calibrated }: Comparison): string[] {
  return Object.entries({ base, distilled, calibrated }).flatMap(([name, row]) => {
    const alarming = row !== null && (row.no_answer_rate ?? 0) > NO_ANSWER_ALARM;
    return alarming ? noAnswerOf(name, row) : [];
  });
}

function deltaLine(what: string, delta: DeltaRow): string[] {
  const effect = `${signedPoints(delta.estimate)} points ${interval(delta.ci)}, ${pValue(delta.p_sign_flip)}`;
  const items = `gained ${delta.gained.length}, lost ${delta.lost.length}, tasks ${delta.n_tasks}`;
  return [`${what}: ${effect}, ${items}`, ...(delta.note === null ? [] : [`  ${delta.note}`])];
}

function noAnswerOf(name: string, row: CheckpointRow): string[] {
  const reasons = row.no_answer_reasons.map(({ reason, count }) => `  ${count} x ${reason}`);
  const rate = percent(row.no_answer_rate);
  return [
    `warning: ${name} gave no answer ${rate} % of the time; a tolerant reading finds ${row.tolerant_would_read} more`,
    ...reasons,
  ];
}

import { byCodeUnit } from "../canonical.ts";
import { ORDERS, type Order } from "../questions/schema.ts";
import { type ClusteredRate, clusteredRate } from "../statistics/clustered-rate.ts";
import type { Outcome, ScoredItem, ScoredPresentation } from "./paired-order.ts";
import type { CheckpointSummary } from "./summary-schema.ts";

/** Everything that is printed about one checkpoint; does not depend on the order of `given`. */
export function summarise(given: readonly ScoredItem[]): CheckpointSummary {
  const items = [...given].sort((a, b) => byCodeUnit(a.questionId, b.questionId));
  const presentations = items.flatMap((item) => ORDERS.map((order) => item[order]));
  const paired = pairedOutcomes(items);
  const letters = presentations.map((each) => each.letter).filter((letter) => letter !== null);
  return {
    ...rateOf(items),
    paired_outcomes: paired,
    outcome_table: outcomeTable(items),
    consistency: ratio(paired.CC + paired.WW, items.length),
    accuracy_given_consistent: ratio(paired.CC, paired.CC + paired.WW),
    position_choices: {
      published: positionChoices(items, "published"),
      reversed: positionChoices(items, "reversed"),
    },
    first_position_rate: ratio(letters.filter((letter) => letter === "A").length, letters.length),
    per_order: { published: perOrder(items, "published"), reversed: perOrder(items, "reversed") },
    no_answer_rate: ratio(countOutcome(presentations, "no_answer"), presentations.length),
    no_answer_reasons: noAnswerReasons(presentations),
    tolerant_would_read: presentations.filter((each) => each.letter === null && each.tolerant !== null)
      .length,
    mean_letter_mass: meanOf(presentations.map((each) => each.letterMass)),
    mean_letter_share: meanOf(presentations.map((each) => each.letterShare)),
    per_cell: perCell(items),
  };
}

/** Right in both orders: the only way a question counts. */
export function isBothRight(item: ScoredItem): boolean {
  return item.published.outcome === "right" && item.reversed.outcome === "right";
}

/** Share of the two orders that are right: 0, 0.5 or 1. */
export function orderAccuracy(item: ScoredItem): number {
  return countOutcome([item.published, item.reversed], "right") / 2;
}

type RateFields = Omit<CheckpointSummary["per_cell"][number], "cell">;

function rateOf(items: readonly ScoredItem[]): RateFields {
  const rate = clusteredRate(
    items.map((item) => ({ cluster: item.taskId, value: isBothRight(item) ? 1 : 0 })),
  );
  return {
    ...onDisk(rate),
    both_orders: items.filter(isBothRight).length,
    mean_accuracy: meanOf(items.map(orderAccuracy)),
  };
}

function onDisk(rate: ClusteredRate): Omit<RateFields, "both_orders" | "mean_accuracy"> {
  return {
    n: rate.n,
    n_tasks: rate.clusters,
    both_orders_rate: rate.rate,
    se: rate.se,
    ci: rate.ci,
    ci_method: rate.ciMethod,
    df: rate.df,
    design_effect: rate.designEffect,
    effective_n: rate.effectiveN,
    largest_task_share: rate.largestClusterShare,
    note: rate.note,
  };
}

function pairedOutcomes(items: readonly ScoredItem[]): CheckpointSummary["paired_outcomes"] {
  const outcomes = { CC: 0, CW: 0, WC: 0, WW: 0 };
  for (const { published, reversed } of items) {
    const first = published.outcome === "right" ? "C" : "W";
    const second = reversed.outcome === "right" ? "C" : "W";
    outcomes[`${first}${second}`]++;
  }
  return outcomes;
}

function outcomeTable(items: readonly ScoredItem[]): CheckpointSummary["outcome_table"] {
  const row = () => ({ right: 0, wrong: 0, no_answer: 0 });
  const table = { right: row(), wrong: row(), no_answer: row() };
  for (const { published, reversed } of items) table[published.outcome][reversed.outcome]++;
  return table;
}

function positionChoices(items: readonly ScoredItem[], order: Order): { A: number; B: number } {
  const letters = items.map((item) => item[order].letter);
  return {
    A: letters.filter((letter) => letter === "A").length,
    B: letters.filter((letter) => letter === "B").length,
  };
}

function perOrder(items: readonly ScoredItem[], order: Order): CheckpointSummary["per_order"]["published"] {
  const presentations = items.map((item) => item[order]);
  const unparsed = countOutcome(presentations, "no_answer");
  const correct = countOutcome(presentations, "right");
  return { n: items.length, correct, parsed: items.length - unparsed, unparsed };
}

function countOutcome(presentations: readonly ScoredPresentation[], outcome: Outcome): number {
  return presentations.filter((each) => each.outcome === outcome).length;
}

function noAnswerReasons(
  presentations: readonly ScoredPresentation[],
): CheckpointSummary["no_answer_reasons"] {
  const counts = new Map<string, number>();
  for (const { reason } of presentations) {
    if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => byCodeUnit(a, b)).map(([reason, count]) => ({ reason, count }));
}

function perCell(items: readonly ScoredItem[]): CheckpointSummary["per_cell"] {
  const cells = [...new Set(items.map((item) => item.cell))].sort(byCodeUnit);
  return cells.map((cell) => ({ cell, ...rateOf(items.filter((item) => item.cell === cell)) }));
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return ratio(
    known.reduce((total, value) => total + value, 0),
    known.length,
  );
}

function ratio(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

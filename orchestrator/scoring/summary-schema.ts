import { z } from "zod";

const count = z.int().min(0);
const number = z.number().nullable();
const interval = z.tuple([z.number(), z.number()]).nullable();

const rateFields = {
  n: count,
  n_tasks: count,
  /** Questions right in both orders. */
  both_orders: count,
  both_orders_rate: number,
  /** Clustered by task. */
  se: number,
  ci: interval,
  ci_method: z.enum(["clustered_t", "wilson_effective_n"]).nullable(),
  df: number,
  design_effect: number,
  effective_n: number,
  largest_task_share: number,
  /** Why a number is null or the interval is a Wilson interval. */
  note: z.string().nullable(),
  /** Mean over both orders, no answer counting as wrong. */
  mean_accuracy: number,
};

const perOrder = z.strictObject({ n: count, correct: count, parsed: count, unparsed: count });
const letters = z.strictObject({ A: count, B: count });
const outcomes = z.strictObject({ right: count, wrong: count, no_answer: count });

/** Numbers of one checkpoint on one set of questions. Rates are shares (0..1); a null has its reason in `note`. */
export const checkpointSummarySchema = z.strictObject({
  ...rateFields,
  /** First letter: published order, second: reversed; no answer counts as W. */
  paired_outcomes: z.strictObject({ CC: count, CW: count, WC: count, WW: count }),
  /** Outer key: published order, inner key: reversed. */
  outcome_table: z.strictObject({ right: outcomes, wrong: outcomes, no_answer: outcomes }),
  /** (CC + WW) / n. */
  consistency: number,
  /** CC / (CC + WW). */
  accuracy_given_consistent: number,
  position_choices: z.strictObject({ published: letters, reversed: letters }),
  /** Share of A among the letters given: 0.5 without a position habit. */
  first_position_rate: number,
  per_order: z.strictObject({ published: perOrder, reversed: perOrder }),
  /** Share of presentations without an answer. */
  no_answer_rate: number,
  no_answer_reasons: z.array(z.strictObject({ reason: z.string(), count })),
  /** Unparsed presentations that the tolerant reading would have read. */
  tolerant_would_read: count,
  mean_letter_mass: number,
  mean_letter_share: number,
  per_cell: z.array(z.strictObject({ cell: z.string(), ...rateFields })),
});

export type CheckpointSummary = z.infer<typeof checkpointSummarySchema>;

const part = z.strictObject({ estimate: z.number(), se: number });

/** Difference of two checkpoints on the same questions, as shares (0.01 = one point). */
export const deltaSchema = z.strictObject({
  estimate: z.number(),
  se: number,
  ci: interval,
  df: number,
  n: count,
  n_tasks: count,
  /** Sign-flip test a task. */
  p_sign_flip: z.number(),
  sign_flip: z.strictObject({ exact: z.boolean(), draws: count, seed: z.int() }),
  /** Exact McNemar; too small where questions share tasks. */
  p_mcnemar_ignores_tasks: z.number(),
  /** Question ids that only the second checkpoint has right in both orders. */
  gained: z.array(z.string()),
  lost: z.array(z.string()),
  /** Smallest true difference that n would find with 80 % power. */
  mde: number,
  /** estimate = accuracy + consistency: more right answers, and fewer questions right in one order only. */
  decomposition: z.strictObject({ accuracy: part, consistency: part }),
  note: z.string().nullable(),
});

export type Delta = z.infer<typeof deltaSchema>;

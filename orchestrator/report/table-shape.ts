/** What the table needs of one checkpoint's summary; rates are shares (0..1), null where undefined. */
export interface CheckpointRow {
  readonly n: number;
  readonly both_orders_rate: number | null;
  readonly ci: readonly [number, number] | null;
  readonly ci_method: string | null;
  readonly mean_accuracy: number | null;
  readonly paired_outcomes: {
    readonly CC: number;
    readonly CW: number;
    readonly WC: number;
    readonly WW: number;
  };
  readonly first_position_rate: number | null;
  readonly no_answer_rate: number | null;
  readonly no_answer_reasons: readonly { readonly reason: string; readonly count: number }[];
  readonly tolerant_would_read: number;
}

/** What the lines under the table need of a difference, as shares. */
export interface DeltaRow {
  readonly estimate: number;
  readonly ci: readonly [number, number] | null;
  readonly p_sign_flip: number;
  readonly n_tasks: number;
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  readonly note: string | null;
}

export interface Comparison {
  readonly base: CheckpointRow | null;
  readonly distilled: CheckpointRow | null;
  readonly calibrated: CheckpointRow | null;
  readonly delta: DeltaRow | null;
  readonly delta_distilled: DeltaRow | null;
}

export interface RunTable {
  readonly folds: readonly (Comparison & { readonly fold: number })[];
  readonly pooled: Comparison;
}

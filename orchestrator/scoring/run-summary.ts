import { z } from "zod";
import { NotComparableError } from "../errors.ts";
import { compareCheckpoints } from "./compare.ts";
import type { ScoredItem } from "./paired-order.ts";
import { summarise } from "./summarise.ts";
import { checkpointSummarySchema, type Delta, deltaSchema } from "./summary-schema.ts";

const comparison = {
  base: checkpointSummarySchema.nullable(),
  distilled: checkpointSummarySchema.nullable(),
  calibrated: checkpointSummarySchema.nullable(),
  /** Calibrated minus base; null where one of them is. */
  delta: deltaSchema.nullable(),
  /** Distilled minus base. */
  delta_distilled: deltaSchema.nullable(),
};

/** Result of a run: each fold's held-out side by itself, then all of them together. */
export const runSummarySchema = z.strictObject({
  folds: z.array(z.strictObject({ fold: z.int().min(0), n: z.int().min(0), ...comparison })),
  pooled: z.strictObject(comparison),
});

export type RunSummary = z.infer<typeof runSummarySchema>;

const CHECKPOINTS = ["base", "distilled", "calibrated"] as const;
type CheckpointName = (typeof CHECKPOINTS)[number];

/** Results by checkpoint on the same questions; null or left out where a checkpoint was not made. */
export type ItemsByCheckpoint = {
  readonly [name in CheckpointName]?: readonly ScoredItem[] | null;
};

export interface FoldItems {
  readonly fold: number;
  readonly items: ItemsByCheckpoint;
}

/**
 * Every held-out question is answered by the one student that never saw its task, so pooling folds is joining
 * their items. Throws NotComparableError when a fold lacks a checkpoint that another has, when a question is
 * held out in two folds, and where checkpoints answered different questions.
 */
export function summariseRun({ folds }: { readonly folds: readonly FoldItems[] }): RunSummary {
  const pooled = pool(folds);
  return {
    folds: folds.map(({ fold, items }) => ({
      fold,
      n: CHECKPOINTS.map((name) => items[name]).find((each) => each != null)?.length ?? 0,
      ...compareAll(items),
    })),
    pooled: compareAll(pooled),
  };
}

function compareAll(items: ItemsByCheckpoint): RunSummary["pooled"] {
  return {
    base: items.base ? summarise(items.base) : null,
    distilled: items.distilled ? summarise(items.distilled) : null,
    calibrated: items.calibrated ? summarise(items.calibrated) : null,
    delta: deltaTo(items.base, items.calibrated),
    delta_distilled: deltaTo(items.base, items.distilled),
  };
}

function deltaTo(
  base: readonly ScoredItem[] | null | undefined,
  student: readonly ScoredItem[] | null | undefined,
): Delta | null {
  return base && student ? compareCheckpoints(base, student) : null;
}

function pool(folds: readonly FoldItems[]): ItemsByCheckpoint {
  return {
    base: poolOne(folds, "base"),
    distilled: poolOne(folds, "distilled"),
    calibrated: poolOne(folds, "calibrated"),
  };
}

function poolOne(folds: readonly FoldItems[], name: CheckpointName): ScoredItem[] | null {
  const having = folds.filter((each) => each.items[name]);
  if (having.length === 0) return null;
  if (having.length < folds.length) {
    throw new NotComparableError(
      `Only ${having.length} of ${folds.length} folds have results of the ${name} checkpoint.`,
      { nextStep: "Let the run finish, or leave that checkpoint out of every fold." },
    );
  }
  const items = having.flatMap((each) => each.items[name] ?? []);
  refuseSharedQuestions(items);
  return items;
}

function refuseSharedQuestions(items: readonly ScoredItem[]): void {
  const seen = new Set<string>();
  for (const { questionId } of items) {
    if (seen.has(questionId)) {
      throw new NotComparableError(`Question ${JSON.stringify(questionId)} is held out in two folds.`, {
        nextStep: "Folds of one split share no question; check that the results come from the same split.",
        facts: { question: questionId },
      });
    }
    seen.add(questionId);
  }
}

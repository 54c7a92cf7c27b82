import { byCodeUnit } from "../canonical.ts";
import { NotComparableError } from "../errors.ts";
import { type Clustered, clusteredMean } from "../statistics/clustered-mean.ts";
import { mcnemarExact } from "../statistics/mcnemar.ts";
import { pairedDelta } from "../statistics/paired-delta.ts";
import type { ScoredItem } from "./paired-order.ts";
import { isBothRight, orderAccuracy } from "./summarise.ts";
import type { Delta } from "./summary-schema.ts";

/** Random part of the sign-flip test, used above 16 tasks; named in every result. */
const SIGN_FLIP = { seed: 1, draws: 20_000 };

/**
 * Student minus base in both-orders-right, paired by question and clustered by task. The interval takes both
 * checkpoints as given: it holds no training noise. Throws NotComparableError for no questions, for unequal
 * sets of questions, and for a question whose task differs.
 */
export function compareCheckpoints(base: readonly ScoredItem[], student: readonly ScoredItem[]): Delta {
  const pairs = join(base, student);
  const delta = pairedDelta(differences(pairs, bothRight), SIGN_FLIP);
  if (delta === null) throw new NotComparableError("There are no questions to compare on.");
  const gained = pairs.filter((pair) => bothRight(pair.student) > bothRight(pair.base)).map(idOf);
  const lost = pairs.filter((pair) => bothRight(pair.student) < bothRight(pair.base)).map(idOf);
  return {
    estimate: delta.estimate,
    se: delta.se,
    ci: delta.ci,
    df: delta.df,
    n: delta.n,
    n_tasks: delta.clusters,
    p_sign_flip: delta.signFlip.p,
    sign_flip: { exact: delta.signFlip.exact, draws: delta.signFlip.draws, seed: SIGN_FLIP.seed },
    p_mcnemar_ignores_tasks: mcnemarExact(gained.length, lost.length),
    gained,
    lost,
    mde: delta.mde,
    decomposition: {
      accuracy: partOf(differences(pairs, orderAccuracy)),
      consistency: partOf(differences(pairs, (item) => (isOneRight(item) ? -0.5 : 0))),
    },
    note: delta.note,
  };
}

interface Pair {
  readonly base: ScoredItem;
  readonly student: ScoredItem;
}

function join(base: readonly ScoredItem[], student: readonly ScoredItem[]): Pair[] {
  const baseById = indexById(base, "first");
  const studentById = indexById(student, "second");
  refuseUnequal(baseById, studentById);
  const pairs = [...baseById].flatMap(([id, item]) => {
    const other = studentById.get(id);
    return other === undefined ? [] : [{ base: item, student: other }];
  });
  for (const pair of pairs) refuseOtherTask(pair);
  return pairs.sort((a, b) => byCodeUnit(idOf(a), idOf(b)));
}

function indexById(items: readonly ScoredItem[], side: "first" | "second"): Map<string, ScoredItem> {
  const byId = new Map(items.map((item) => [item.questionId, item]));
  if (byId.size === items.length) return byId;
  throw new NotComparableError(
    `The ${side} checkpoint has ${items.length} results for ${byId.size} questions.`,
    { nextStep: "Give each question's result once." },
  );
}

function refuseUnequal(
  base: ReadonlyMap<string, ScoredItem>,
  student: ReadonlyMap<string, ScoredItem>,
): void {
  const onlyBase = [...base.keys()].filter((id) => !student.has(id)).sort(byCodeUnit);
  const onlyStudent = [...student.keys()].filter((id) => !base.has(id)).sort(byCodeUnit);
  if (onlyBase.length + onlyStudent.length === 0) return;
  const example = JSON.stringify(onlyBase[0] ?? onlyStudent[0]);
  throw new NotComparableError(
    `The two checkpoints answered different questions: ${onlyBase.length} only the first, ${onlyStudent.length} only the second (${example}).`,
    {
      nextStep: "Score both checkpoints on the same questions.",
      facts: { only_first: onlyBase, only_second: onlyStudent },
    },
  );
}

function refuseOtherTask({ base, student }: Pair): void {
  if (base.taskId === student.taskId) return;
  throw new NotComparableError(
    `Question ${JSON.stringify(base.questionId)} belongs to task ${JSON.stringify(base.taskId)} on one side and ${JSON.stringify(student.taskId)} on the other.`,
    { nextStep: "Score both checkpoints on the same release of the questions." },
  );
}

function idOf(pair: Pair): string {
  return pair.base.questionId;
}

function bothRight(item: ScoredItem): number {
  return isBothRight(item) ? 1 : 0;
}

function isOneRight(item: ScoredItem): boolean {
  return orderAccuracy(item) === 0.5;
}

function differences(pairs: readonly Pair[], value: (item: ScoredItem) => number): Clustered[] {
  return pairs.map((pair) => ({
    cluster: pair.base.taskId,
    value: value(pair.student) - value(pair.base),
  }));
}

function partOf(values: readonly Clustered[]): { estimate: number; se: number | null } {
  const moments = clusteredMean(values);
  return { estimate: moments?.mean ?? 0, se: moments?.se ?? null };
}

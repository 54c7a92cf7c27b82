import { NotComparableError } from "../errors.ts";
import type { Question, QuestionSet } from "../questions/schema.ts";
import { groupTasks } from "./groups.ts";
import type { FoldJoin, FoldManifest, Overlap } from "./manifest.ts";
import { largestOverlap } from "./overlap.ts";
import { taskTexts } from "./texts.ts";

/** Two linked tasks on two sides, with the link. */
export type PartedPair = FoldJoin & { readonly fold_a: number; readonly fold_b: number };

/** snake_case because `palate folds audit --json` prints it as it is. */
export interface AuditReport {
  readonly sound: boolean;
  readonly parted: readonly PartedPair[];
  /** Tasks with questions held out in more than one fold, or in another fold than the manifest's groups say. */
  readonly torn_tasks: readonly string[];
  /** Question ids of the data that no fold holds out. */
  readonly missing: readonly string[];
  /** Question ids held out more than once. */
  readonly repeated: readonly string[];
  /** Question ids of the manifest that the data does not have. */
  readonly unknown: readonly string[];
  readonly largest_overlap: Overlap | null;
  readonly folds: readonly { readonly fold: number; readonly n: number; readonly n_tasks: number }[];
}

type AuditedSet = Pick<QuestionSet, "source" | "digest" | "questions">;

/**
 * What a split gets wrong on its data, links found anew by the manifest's own thresholds.
 * Throws NotComparableError when the manifest was made from other data.
 */
export function auditManifest(manifest: FoldManifest, set: AuditedSet): AuditReport {
  requireSameData(manifest, set);
  const { shingle_words: shingle, threshold } = manifest.rules.near_duplicate;
  const texts = taskTexts(set.questions, { shingle });
  const { groups, own } = groupTasks(texts, { threshold });
  const held = heldOut(manifest);
  const foldsOf = foldsOfTasks(set.questions, held);
  const foldOf = new Map([...foldsOf].map(([task, [fold = -1]]) => [task, fold]));
  const faults = {
    parted: groups.flatMap(({ joins }) => joins.flatMap((join) => partedPair(join, foldOf))),
    torn_tasks: tornTasks(manifest, foldsOf),
    ...itemFaults(held, set.questions),
  };
  return {
    sound: Object.values(faults).every((list) => list.length === 0),
    ...faults,
    largest_overlap: largestOverlap({ texts, own, foldOf }),
    folds: manifest.folds.map(({ fold, held_out }) => ({
      fold,
      n: held_out.length,
      n_tasks: [...foldsOf.values()].filter((folds) => folds.has(fold)).length,
    })),
  };
}

function requireSameData(manifest: FoldManifest, { digest, source }: AuditedSet): void {
  if (manifest.data_digest === digest) return;
  throw new NotComparableError(
    `The fold manifest is for data ${short(manifest.data_digest)}; ${source} is ${short(digest)}.`,
    {
      nextStep: "Give the data that the manifest was built from, or build a manifest for this data.",
      facts: { manifest_digest: manifest.data_digest, data_digest: digest, source },
    },
  );
}

function short(digest: string): string {
  return digest.slice(0, 12);
}

/** Folds that hold a question out, by question id; one entry a time it is named. */
function heldOut(manifest: FoldManifest): ReadonlyMap<string, readonly number[]> {
  const folds = new Map<string, number[]>();
  for (const { fold, held_out } of manifest.folds) {
    for (const id of held_out) folds.set(id, [...(folds.get(id) ?? []), fold]);
  }
  return folds;
}

type HeldOut = ReturnType<typeof heldOut>;

function foldsOfTasks(
  questions: readonly Question[],
  held: HeldOut,
): ReadonlyMap<string, ReadonlySet<number>> {
  const folds = new Map<string, Set<number>>();
  for (const { id, task_id } of questions) {
    const seen = folds.get(task_id) ?? new Set<number>();
    for (const fold of held.get(id) ?? []) seen.add(fold);
    folds.set(task_id, seen);
  }
  return folds;
}

function partedPair(join: FoldJoin, foldOf: ReadonlyMap<string, number>): readonly PartedPair[] {
  const [fold_a, fold_b] = [foldOf.get(join.a) ?? -1, foldOf.get(join.b) ?? -1];
  return fold_a === fold_b ? [] : [{ ...join, fold_a, fold_b }];
}

function tornTasks(
  manifest: FoldManifest,
  foldsOf: ReadonlyMap<string, ReadonlySet<number>>,
): readonly string[] {
  const named = new Map(
    manifest.groups.flatMap(({ tasks, fold }) => tasks.map((task) => [task, fold] as const)),
  );
  return [...foldsOf].flatMap(([task, folds]) =>
    folds.size > 1 || [...folds].some((fold) => fold !== named.get(task)) ? [task] : [],
  );
}

function itemFaults(held: HeldOut, questions: readonly Question[]) {
  const known = new Set(questions.map(({ id }) => id));
  return {
    missing: [...known].filter((id) => !held.has(id)),
    repeated: [...held].flatMap(([id, folds]) => (folds.length > 1 ? [id] : [])),
    unknown: [...held.keys()].filter((id) => !known.has(id)),
  };
}

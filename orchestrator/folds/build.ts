import { byCodeUnit } from "../canonical.ts";
import { DataError } from "../errors.ts";
import type { Question } from "../questions/schema.ts";
import { assignFolds, type Load } from "./assign.ts";
import { groupTasks, type TaskGroup } from "./groups.ts";
import { type FoldManifest, foldOfTasks } from "./manifest.ts";
import { largestOverlap } from "./overlap.ts";
import { MAX_SHARING_TASKS } from "./templates.ts";
import { MIN_ISSUE_WORDS, taskTexts } from "./texts.ts";

export interface NearDuplicateRule {
  /** Jaccard index from which two task texts count as one, 0 < threshold <= 1. */
  readonly threshold: number;
  /** Words a run. */
  readonly shingle: number;
}

/**
 * 13 words is the run length of common decontamination practice (GPT-3 paper, appendix C; lm-evaluation-harness).
 * At 0.8 a text of 150 words with one word changed, or with a line put in front, is a duplicate. Real tasks that
 * share policy sections come close (0.79 measured on airline tasks of tau-bench), so a lower threshold
 * links tasks that are not the same.
 */
export const DEFAULT_NEAR_DUPLICATE: NearDuplicateRule = { threshold: 0.8, shingle: 13 };

export interface SplitRequest {
  /** `QuestionSet.digest`. */
  readonly digest: string;
  readonly questions: readonly Question[];
  readonly k: number;
  readonly seed: number;
  readonly nearDuplicate: NearDuplicateRule;
}

/**
 * A k-fold split with its reasons: a pure function of the questions, k, seed and rule, the same to the byte
 * whatever the row order, platform or locale. Throws DataError when there are fewer groups than folds.
 */
export function buildManifest({ digest, questions, k, seed, nearDuplicate }: SplitRequest): FoldManifest {
  const texts = taskTexts(questions, nearDuplicate);
  const { groups, own } = groupTasks(texts, nearDuplicate);
  requireGroups({ groups: groups.length, tasks: texts.taskIds.length, k });
  const loads = groupLoads(groups, questions);
  const folds = assignFolds(loads, { k, seed });
  const placed = groups.map((group, index) =>
    placeGroup(group, loads[index]?.cells ?? [], folds[index] ?? 0),
  );
  const foldOf = foldOfTasks({ groups: placed });
  return {
    schema_version: 1,
    data_digest: digest,
    k,
    seed,
    rules: rulesOf(nearDuplicate),
    groups: placed,
    folds: describeFolds(questions, { foldOf, k }),
    audit: { largest_overlap: largestOverlap({ texts, own, foldOf }), template: { ...own.template } },
  };
}

function requireGroups({ groups, tasks, k }: { groups: number; tasks: number; k: number }): void {
  if (groups >= k) return;
  throw new DataError(`${k} folds need ${k} groups of tasks; the data has ${groups} (of ${tasks} tasks).`, {
    nextStep: "Ask for fewer folds, or add questions of other tasks.",
    facts: { k, groups, tasks },
  });
}

function groupLoads(groups: readonly TaskGroup[], questions: readonly Question[]): readonly Load[] {
  const cellIndex = new Map(cellsOf(questions).map((cell, index) => [cell, index]));
  const groupOf = new Map(groups.flatMap(({ tasks }, index) => tasks.map((task) => [task, index] as const)));
  const counts = groups.map(() => new Array<number>(cellIndex.size).fill(0));
  for (const { task_id, cell } of questions) {
    const cells = counts[groupOf.get(task_id) ?? -1] ?? [];
    const at = cellIndex.get(cell) ?? 0;
    cells[at] = (cells[at] ?? 0) + 1;
  }
  return groups.map(({ tasks }, index) => ({ name: tasks[0] ?? "", cells: counts[index] ?? [] }));
}

function cellsOf(questions: readonly Question[]): readonly string[] {
  return [...new Set(questions.map(({ cell }) => cell))].sort(byCodeUnit);
}

function placeGroup(
  group: TaskGroup,
  cells: readonly number[],
  fold: number,
): FoldManifest["groups"][number] {
  const n = cells.reduce((sum, count) => sum + count, 0);
  return { fold, n, tasks: [...group.tasks], joins: [...group.joins] };
}

function rulesOf({ threshold, shingle }: NearDuplicateRule): FoldManifest["rules"] {
  return {
    same_task: { version: 1 },
    same_issue: { version: 1, min_words: MIN_ISSUE_WORDS },
    near_duplicate: {
      version: 1,
      shingle_words: shingle,
      threshold,
      max_sharing_tasks: MAX_SHARING_TASKS,
    },
    assignment: { version: 1 },
  };
}

interface FoldsOfTasks {
  readonly foldOf: ReadonlyMap<string, number>;
  readonly k: number;
}

function describeFolds(questions: readonly Question[], { foldOf, k }: FoldsOfTasks): FoldManifest["folds"] {
  const members = Array.from({ length: k }, (): Question[] => []);
  for (const question of questions) members[foldOf.get(question.task_id) ?? -1]?.push(question);
  return members.map((held, fold) => ({ fold, ...describeHeldOut(held) }));
}

function describeHeldOut(held: readonly Question[]) {
  return {
    n: held.length,
    n_tasks: new Set(held.map(({ task_id }) => task_id)).size,
    cells: cellsOf(held).map((cell) => ({
      cell,
      n: held.filter((question) => question.cell === cell).length,
    })),
    held_out: held.map(({ id }) => id).sort(byCodeUnit),
  };
}

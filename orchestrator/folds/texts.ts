import { byCodeUnit } from "../canonical.ts";
import type { Question } from "../questions/schema.ts";
import { collapseSpace, shingleSet } from "./words.ts";

/** Below this many words a query names no issue: "Fix the failing test." is said of any. */
export const MIN_ISSUE_WORDS = 8;

/** One distinct query, white space collapsed. */
export interface TaskText {
  readonly text: string;
  /** Indices into `TaskTexts.taskIds`, ascending. */
  readonly tasks: readonly number[];
  /** Word-run hashes, sorted and distinct; empty for a text that is too short to name an issue. */
  readonly shingles: Float64Array;
}

export interface TaskTexts {
  /** All task ids by code unit. */
  readonly taskIds: readonly string[];
  /** All distinct texts by code unit, so that nothing below depends on row order. */
  readonly texts: readonly TaskText[];
}

/** The text of a task is its query (all its queries, where its questions word it in several ways). */
export function taskTexts(
  questions: readonly Question[],
  { shingle }: { readonly shingle: number },
): TaskTexts {
  const taskIds = [...new Set(questions.map((question) => question.task_id))].sort(byCodeUnit);
  const indexOf = new Map(taskIds.map((id, index) => [id, index]));
  const tasksOf = new Map<string, Set<number>>();
  for (const { query, task_id } of questions) {
    const text = collapseSpace(query);
    const tasks = tasksOf.get(text) ?? new Set<number>();
    tasks.add(indexOf.get(task_id) ?? 0);
    tasksOf.set(text, tasks);
  }
  const texts = [...tasksOf]
    .sort(([a], [b]) => byCodeUnit(a, b))
    .map(([text, tasks]) => ({
      text,
      tasks: [...tasks].sort((a, b) => a - b),
      shingles: shingleSet(text, { size: shingle, minWords: MIN_ISSUE_WORDS }),
    }));
  return { taskIds, texts };
}

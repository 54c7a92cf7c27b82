import { findNearPairs } from "./near-pairs.ts";
import { MAX_SHARING_TASKS, type OwnRuns, ownRuns } from "./templates.ts";
import type { TaskTexts } from "./texts.ts";
import { createUnionFind, type UnionFind } from "./union-find.ts";
import { roundJaccard } from "./words.ts";

/** Why two tasks are in one group. Both ids in code-unit order; `jaccard` to four places, templates left out. */
export type Join =
  | { readonly kind: "same_issue"; readonly a: string; readonly b: string }
  | { readonly kind: "near_duplicate"; readonly a: string; readonly b: string; readonly jaccard: number };

export interface TaskGroup {
  /** Task ids by code unit. */
  readonly tasks: readonly string[];
  /** Spanning tree of the group: one join fewer than tasks. */
  readonly joins: readonly Join[];
}

export interface Grouping {
  /** Ordered by first task id. */
  readonly groups: readonly TaskGroup[];
  /** The texts' word runs, in their order, without those of templates. */
  readonly own: OwnRuns;
}

interface Edge {
  readonly a: number;
  readonly b: number;
  readonly jaccard: number | null;
}

/**
 * Groups of tasks that must stay on one side of a split: connected components over
 *  - same_task: all questions of a task id (a task is one node here, so this needs no join);
 *  - same_issue: equal queries up to white space, of at least MIN_ISSUE_WORDS words;
 *  - near_duplicate: exact Jaccard index of the texts' word runs at or above `threshold`, after runs that
 *    more than MAX_SHARING_TASKS tasks share are left out (twins by same_issue count as one task there).
 */
export function groupTasks(texts: TaskTexts, { threshold }: { readonly threshold: number }): Grouping {
  const sets = createUnionFind(texts.taskIds.length);
  const issueEdges = sameIssueEdges(texts).filter(({ a, b }) => sets.join(a, b));
  const own = ownRuns(texts, (task) => sets.find(task));
  const nearEdges = nearDuplicateEdges({ texts, own, sets, threshold }).filter(({ a, b }) => sets.join(a, b));
  const groups = collectGroups(texts.taskIds, sets, [...issueEdges, ...nearEdges]);
  return { groups, own };
}

function sameIssueEdges({ texts }: TaskTexts): readonly Edge[] {
  return texts.flatMap(({ tasks: [first = 0, ...others], shingles }) =>
    shingles.length === 0 ? [] : others.map((other) => ({ a: first, b: other, jaccard: null })),
  );
}

interface NearDuplicateInput {
  readonly texts: TaskTexts;
  readonly own: OwnRuns;
  readonly sets: UnionFind;
  readonly threshold: number;
}

/** Strongest first, so that the joins kept are those a reader would name. */
function nearDuplicateEdges({ texts, own, sets, threshold }: NearDuplicateInput): readonly Edge[] {
  const firstTask = texts.texts.map(({ tasks }) => tasks[0] ?? 0);
  const component = firstTask.map((task) => sets.find(task));
  const edges: Edge[] = [];
  findNearPairs(own.shingles, {
    skip: (a, b) => component[a] === component[b],
    maxCompared: 2 * MAX_SHARING_TASKS,
    floor: () => threshold,
    found: ({ a, b, jaccard }) => edges.push(toEdge(firstTask[a] ?? 0, firstTask[b] ?? 0, jaccard)),
  });
  return edges.sort((x, y) => (y.jaccard ?? 0) - (x.jaccard ?? 0) || x.a - y.a || x.b - y.b);
}

function toEdge(a: number, b: number, jaccard: number): Edge {
  return { a: Math.min(a, b), b: Math.max(a, b), jaccard };
}

function collectGroups(
  taskIds: readonly string[],
  sets: UnionFind,
  edges: readonly Edge[],
): readonly TaskGroup[] {
  const groups = new Map<number, { tasks: string[]; joins: Join[] }>();
  for (const [index, id] of taskIds.entries()) {
    const root = sets.find(index);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, { tasks: [id], joins: [] });
    else group.tasks.push(id);
  }
  for (const edge of edges) groups.get(sets.find(edge.a))?.joins.push(toJoin(taskIds, edge));
  return [...groups.values()];
}

function toJoin(taskIds: readonly string[], edge: Edge): Join {
  const ids = { a: taskIds[edge.a] ?? "", b: taskIds[edge.b] ?? "" };
  if (edge.jaccard === null) return { kind: "same_issue", ...ids };
  return { kind: "near_duplicate", ...ids, jaccard: roundJaccard(edge.jaccard) };
}

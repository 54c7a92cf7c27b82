import type { TaskTexts } from "./texts.ts";

/**
 * A word run in the texts of more tasks than this is a template's (a policy, a house style), not an issue's,
 * and counts for no near-duplicate. Eight twins in one group cost a split little; a template that ties all its
 * tasks together costs the split.
 */
export const MAX_SHARING_TASKS = 8;

export interface OwnRuns {
  /** A set a text, in the order of the texts. */
  readonly shingles: readonly Float64Array[];
  /** What was left out: distinct runs, and tasks whose texts have any of them. */
  readonly template: { readonly runs: number; readonly tasks: number };
}

/**
 * The texts' word runs without those of templates. Tasks of one component (twins) count as one task, so that
 * an issue under many ids is not taken for a template.
 */
export function ownRuns(texts: TaskTexts, componentOf: (task: number) => number): OwnRuns {
  const shared = sharedRuns(runsPerComponent(texts, componentOf));
  const touched = new Set<number>();
  const shingles = texts.texts.map((text) => {
    if (!text.shingles.some((run) => shared.has(run))) return text.shingles;
    for (const task of text.tasks) touched.add(task);
    return text.shingles.filter((run) => !shared.has(run));
  });
  return { shingles, template: { runs: shared.size, tasks: touched.size } };
}

function runsPerComponent(
  { texts }: TaskTexts,
  componentOf: (task: number) => number,
): readonly Float64Array[] {
  const runsOf = new Map<number, Float64Array[]>();
  for (const { tasks, shingles } of texts) {
    // Only a text without runs (too short to name an issue) can belong to several components.
    const component = componentOf(tasks[0] ?? 0);
    const runs = runsOf.get(component);
    if (runs === undefined) runsOf.set(component, [shingles]);
    else runs.push(shingles);
  }
  return [...runsOf.values()].map((runs) => {
    const [only] = runs;
    return only !== undefined && runs.length === 1 ? only : Float64Array.from(new Set(concatenate(runs)));
  });
}

/** Sorting beats counting in a Map here: tens of millions of runs, of which few are shared. */
function sharedRuns(runsPerTask: readonly Float64Array[]): ReadonlySet<number> {
  const seen = concatenate(runsPerTask).sort();
  const shared = new Set<number>();
  for (let index = MAX_SHARING_TASKS; index < seen.length; index += 1) {
    const run = seen[index];
    if (run !== undefined && run === seen[index - MAX_SHARING_TASKS]) shared.add(run);
  }
  return shared;
}

function concatenate(parts: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

import { fileURLToPath } from "node:url";
import { buildManifest, DEFAULT_NEAR_DUPLICATE } from "../../orchestrator/folds/build.ts";
import type { FoldManifest } from "../../orchestrator/folds/manifest.ts";
import { readQuestions } from "../../orchestrator/questions/read.ts";
import type { Question, QuestionSet } from "../../orchestrator/questions/schema.ts";

export function casePath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/cases/${name}`, import.meta.url));
}

export function readCase(name: string): Promise<QuestionSet> {
  return readQuestions(casePath(name), { cacheDir: "unused" });
}

interface SplitOf {
  readonly k?: number;
  readonly seed?: number;
  readonly digest?: string;
  readonly threshold?: number;
}

export function splitOf(questions: readonly Question[], options: SplitOf = {}): FoldManifest {
  const { k = 2, seed = 0, digest = "0".repeat(64), threshold = DEFAULT_NEAR_DUPLICATE.threshold } = options;
  return buildManifest({
    digest,
    questions,
    k,
    seed,
    nearDuplicate: { ...DEFAULT_NEAR_DUPLICATE, threshold },
  });
}

/** A question of a task, with what tests of splits vary. */
export function question(
  id: string,
  over: Partial<Question> & Pick<Question, "task_id" | "query">,
): Question {
  return {
    id,
    domain: "engineering",
    method: "detour",
    cell: "detour_engineering",
    source: "made-up",
    prefix_text: "[1] AGENT: I look.",
    prefix_text_short: "[1] AGENT: I look.",
    prefix_steps: 1,
    choices: ["Go left.", "Go right."],
    answer: "A",
    answer_index: 0,
    canary: "CANARY-TEST",
    ...over,
  };
}

/** Deterministic words w0, w1, ... drawn from a large vocabulary by a linear congruential generator. */
export function wordMaker(seed: number): (count: number) => string {
  let state = seed;
  return (count) =>
    Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return `w${state % 50_000}`;
    }).join(" ");
}

/** The items in an order drawn from the seed. */
export function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  let state = seed;
  const drawn = items.map((item) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return { item, state };
  });
  return drawn.sort((a, b) => a.state - b.state).map(({ item }) => item);
}

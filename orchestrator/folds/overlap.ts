import type { Overlap } from "./manifest.ts";
import { findNearPairs, type NearPair } from "./near-pairs.ts";
import type { OwnRuns } from "./templates.ts";
import type { TaskTexts } from "./texts.ts";
import { jaccard, roundJaccard } from "./words.ts";

interface SplitTexts {
  readonly texts: TaskTexts;
  readonly own: OwnRuns;
  readonly foldOf: ReadonlyMap<string, number>;
}

/** Enough to see the pairs of a template, of which there may be millions. */
const MAX_COMPARED = 2;

/**
 * The two tasks of different folds whose texts have most word runs in common (Jaccard index, templates
 * included), or null when none was found. The search is that of near-pairs.ts: sure to see what is near 1, and
 * of a template with many texts it sees a part.
 */
export function largestOverlap({ texts, own, foldOf }: SplitTexts): Overlap | null {
  const largest = largestPair(texts, foldOf);
  if (largest === null) return null;
  const [a, b] = [largest.a, largest.b].map((text) => texts.texts[text]?.tasks[0] ?? 0).sort((x, y) => x - y);
  return {
    jaccard: roundJaccard(largest.jaccard),
    own_jaccard: roundJaccard(jaccard(own.shingles[largest.a] ?? NONE, own.shingles[largest.b] ?? NONE)),
    a: texts.taskIds[a ?? 0] ?? "",
    b: texts.taskIds[b ?? 0] ?? "",
  };
}

const NONE = new Float64Array(0);

function largestPair({ texts, taskIds }: TaskTexts, foldOf: SplitTexts["foldOf"]): NearPair | null {
  const folds = texts.map(({ tasks }) => foldOf.get(taskIds[tasks[0] ?? 0] ?? ""));
  const best: { pair: NearPair | null } = { pair: null };
  const floor = () => best.pair?.jaccard ?? Number.MIN_VALUE;
  findNearPairs(
    texts.map(({ shingles }) => shingles),
    {
      skip: (a, b) => folds[a] === folds[b],
      maxCompared: MAX_COMPARED,
      floor,
      found: (pair) => {
        if (best.pair === null || isBefore(pair, best.pair)) best.pair = pair;
      },
    },
  );
  return best.pair;
}

/** Among equals the first by text, so that the answer does not hang on the order of the search. */
function isBefore(x: NearPair, y: NearPair): boolean {
  if (x.jaccard !== y.jaccard) return x.jaccard > y.jaccard;
  return x.a < y.a || (x.a === y.a && x.b < y.b);
}

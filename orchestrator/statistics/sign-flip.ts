import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** All sign patterns are tried up to this many. */
const EXACT_PATTERNS = 2 ** 16;

export interface SignFlip {
  /** Two-sided p. */
  readonly p: number;
  readonly exact: boolean;
  /** Sign patterns tried; with `exact` all there are. */
  readonly draws: number;
}

/**
 * Sign-flip test of "the sum over clusters is 0": were there no effect, each cluster's sum would be as likely
 * to have the other sign. Exact where 2^clusters <= 2^16, else `draws` (>= 10,000) random patterns of
 * xoroshiro128plus(seed) and p = (1 + hits) / (1 + draws).
 */
export function signFlip(sums: readonly number[], options: { seed: number; draws: number }): SignFlip {
  // A cluster that sums to 0 is the same under both signs: p is unchanged without it.
  const moved = sums.filter((sum) => sum !== 0).map(Math.abs);
  // Sums are of whole or half units; the slack only absorbs the order of additions.
  const observed = Math.abs(sums.reduce((total, sum) => total + sum, 0)) - 1e-9;
  if (2 ** moved.length <= EXACT_PATTERNS) return exactFlip(moved, observed);
  return sampledFlip(moved, observed, options);
}

function exactFlip(moved: readonly number[], observed: number): SignFlip {
  const patterns = 2 ** moved.length;
  let hits = 0;
  for (let pattern = 0; pattern < patterns; pattern++) {
    const sum = moved.reduce((total, size, bit) => total + ((pattern >> bit) & 1 ? size : -size), 0);
    if (Math.abs(sum) >= observed) hits++;
  }
  return { p: hits / patterns, exact: true, draws: patterns };
}

function sampledFlip(
  moved: readonly number[],
  observed: number,
  { seed, draws }: { seed: number; draws: number },
): SignFlip {
  if (draws < 10_000) throw new RangeError(`A sign-flip test needs at least 10,000 draws, not ${draws}.`);
  const random = xoroshiro128plus(seed);
  let hits = 0;
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0;
    for (const size of moved) sum += random.next() < 0 ? -size : size;
    if (Math.abs(sum) >= observed) hits++;
  }
  return { p: (1 + hits) / (1 + draws), exact: false, draws };
}

import { byCodeUnit, sha256Hex } from "../../canonical.ts";

/**
 * One of `values`, fixed by seed and key alone. Keyed instead of sequential, so that a draw does not depend on
 * which draws came before it: a larger set begins with the smaller one of the same seed.
 */
export function drawFrom<T>(seed: number, key: string, values: readonly [T, ...T[]]): T {
  return values[draw(seed, key, values.length)] ?? values[0];
}

/** The two values, in an order fixed by seed and key. */
export function drawOrder<T>(seed: number, key: string, first: T, second: T): readonly [T, T] {
  return draw(seed, key, 2) === 0 ? [first, second] : [second, first];
}

/** The words in an order fixed by seed and key. */
export function drawPermutation(seed: number, key: string, words: readonly string[]): readonly string[] {
  return words
    .map((word) => ({ word, rank: digest(seed, `${key} ${word}`) }))
    .sort((a, b) => byCodeUnit(a.rank, b.rank))
    .map(({ word }) => word);
}

/** An integer in [0, count). The remainder's bias is below count / 2^48. */
function draw(seed: number, key: string, count: number): number {
  return Number.parseInt(digest(seed, key).slice(0, 12), 16) % count;
}

function digest(seed: number, key: string): string {
  return sha256Hex(`palate-control ${seed} ${key}`);
}

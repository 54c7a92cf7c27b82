import { drawPermutation } from "./draw.ts";
import { HEADS, TAILS } from "./words.ts";

/** How many different names there are. */
export const NAME_COUNT = HEADS.length * TAILS.length;

/**
 * All names as [head, tail], each once, in an order fixed by the seed. Row r of the square shifts the tails by
 * r, so that neighbours share no word: the names of one task never have a half in common.
 */
export function drawNames(seed: number): readonly (readonly [string, string])[] {
  const heads = drawPermutation(seed, "heads", HEADS);
  const tails = drawPermutation(seed, "tails", TAILS);
  return tails.flatMap((_, row) => heads.map((head, column) => [head, at(tails, row + column)] as const));
}

function at(words: readonly string[], index: number): string {
  return words[index % words.length] ?? "";
}

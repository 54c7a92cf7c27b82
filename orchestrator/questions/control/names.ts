import { drawPermutation } from "./draw.ts";
import { PLACES, QUALITIES, THINGS } from "./words.ts";

/** Names of repositories, each once, in an order fixed by the seed. */
export function drawRepositories(seed: number): readonly string[] {
  const qualities = drawPermutation(seed, "qualities", QUALITIES);
  return allPairs(qualities, drawPermutation(seed, "places", PLACES)).map((halves) => halves.join("-"));
}

/** Names of modules, each once, in an order fixed by the seed: single words as long as there are any, then pairs. */
export function drawModules(seed: number): readonly string[] {
  const things = drawPermutation(seed, "things", THINGS);
  const pairs = allPairs(things, drawPermutation(seed, "second things", THINGS));
  return [...things, ...pairs.filter(([head, tail]) => head !== tail).map((halves) => halves.join("_"))];
}

/** Every head with every tail once, in rows that shift the tails by one: neighbours share no word. */
function allPairs(
  heads: readonly string[],
  tails: readonly string[],
): readonly (readonly [string, string])[] {
  return tails.flatMap((_, row) =>
    heads.map((head, column) => [head, tails[(row + column) % tails.length] ?? ""] as const),
  );
}

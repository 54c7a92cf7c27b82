import { byCodeUnit, canonicalJson, sha256Hex } from "../canonical.ts";

/** A group as the assignment sees it. */
export interface Load {
  /** Stable name: the smallest task id of the group. */
  readonly name: string;
  /** Questions a cell, indexed as all loads are; integers. */
  readonly cells: readonly number[];
}

/**
 * The fold (0 .. k-1) of each load, in the given order. Big loads first, equal ones in an order drawn from
 * sha256 over seed and name; each goes where the sum of squared fold counts (in all, and a cell) grows least,
 * and swaps that lower that sum further are then taken until there are none. Integers only, so no float tie
 * can fall differently on another machine. Every fold gets a load when there are at least k.
 */
export function assignFolds(
  loads: readonly Load[],
  { k, seed }: { readonly k: number; readonly seed: number },
) {
  const drawn = loads.map((load, index) => ({
    index,
    counts: [total(load.cells), ...load.cells],
    draw: sha256Hex(canonicalJson([seed, load.name])),
  }));
  drawn.sort((a, b) => (b.counts[0] ?? 0) - (a.counts[0] ?? 0) || byCodeUnit(a.draw, b.draw));
  const placed = placeGreedily(drawn, k);
  improveBySwaps(placed);
  const folds = new Array<number>(loads.length).fill(0);
  for (const { index, fold } of placed.loads) folds[index] = fold;
  return folds as readonly number[];
}

interface DrawnLoad {
  readonly index: number;
  /** Total, then a cell each. */
  readonly counts: readonly number[];
}

type PlacedLoad = DrawnLoad & { fold: number };

interface Placed {
  readonly loads: readonly PlacedLoad[];
  /** Counts a fold, in the layout of `counts`. */
  readonly folds: number[][];
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function placeGreedily(drawn: readonly DrawnLoad[], k: number): Placed {
  const width = drawn[0]?.counts.length ?? 0;
  const folds = Array.from({ length: k }, () => new Array<number>(width).fill(0));
  const loads = drawn.map((load) => {
    const fold = cheapestFold(folds, load.counts);
    addTo(folds[fold] ?? [], load.counts, 1);
    return { ...load, fold };
  });
  return { loads, folds };
}

function cheapestFold(folds: readonly (readonly number[])[], counts: readonly number[]): number {
  let best = { fold: 0, growth: Number.POSITIVE_INFINITY };
  for (const [fold, filled] of folds.entries()) {
    // (f + c)^2 - f^2 - c^2 = 2fc, and c is the same for every fold.
    const growth = filled.reduce((sum, count, at) => sum + count * (counts[at] ?? 0), 0);
    if (growth < best.growth) best = { fold, growth };
  }
  return best.fold;
}

function addTo(filled: number[], counts: readonly number[], sign: 1 | -1): void {
  for (const [at, count] of counts.entries()) filled[at] = (filled[at] ?? 0) + sign * count;
}

const MAX_ROUNDS = 8;
const MAX_KINDS = 512;

function improveBySwaps({ loads, folds }: Placed): void {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const kinds = oneOfEachKind(loads).slice(0, MAX_KINDS);
    const swaps = kinds.flatMap((a, at) => kinds.slice(at + 1).filter((b) => swapIfBetter(folds, a, b)));
    const moves = kinds.filter((load) => moveIfBetter(folds, load));
    if (swaps.length + moves.length === 0) return;
  }
}

/** Loads with equal counts in one fold are interchangeable, so trying one of them is trying all. */
function oneOfEachKind(loads: readonly PlacedLoad[]): readonly PlacedLoad[] {
  const kinds = new Map<string, PlacedLoad>();
  for (const load of loads) {
    const kind = `${load.fold}:${load.counts.join(",")}`;
    if (!kinds.has(kind)) kinds.set(kind, load);
  }
  return [...kinds.values()];
}

function swapIfBetter(folds: Placed["folds"], a: PlacedLoad, b: PlacedLoad): boolean {
  if (a.fold === b.fold) return false;
  const gain = b.counts.map((count, at) => count - (a.counts[at] ?? 0));
  if (!shiftIfBetter({ into: folds[a.fold], from: folds[b.fold], counts: gain })) return false;
  [a.fold, b.fold] = [b.fold, a.fold];
  return true;
}

/** Never empties a fold: moving its only load into a filled one cannot lower the sum of squares. */
function moveIfBetter(folds: Placed["folds"], load: PlacedLoad): boolean {
  const target = folds.findIndex((into) =>
    shiftIfBetter({ into, from: folds[load.fold], counts: load.counts }),
  );
  if (target < 0) return false;
  load.fold = target;
  return true;
}

interface Shift {
  readonly into: number[] | undefined;
  readonly from: number[] | undefined;
  readonly counts: readonly number[];
}

function shiftIfBetter({ into, from, counts }: Shift): boolean {
  if (into === undefined || from === undefined || into === from) return false;
  // Half of the change of the sum of squares.
  const change = counts.reduce((sum, c, at) => sum + c * ((into[at] ?? 0) - (from[at] ?? 0) + c), 0);
  if (change >= 0) return false;
  addTo(into, counts, 1);
  addTo(from, counts, -1);
  return true;
}

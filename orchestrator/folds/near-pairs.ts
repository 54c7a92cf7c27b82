import { jaccard } from "./words.ts";

/**
 * 24 bands of 2 rows: a pair is compared with probability 1 - (1 - J^2)^24, which is 0.999 at J = 0.5 and
 * misses about 1 in 10^11 at J = 0.8 (MinHash: Broder 1997; banding: Leskovec, Rajaraman, Ullman, section 3.4).
 */
const BANDS = 24;
/** Members of a bucket that a newcomer passes before it stops looking for some to compare with. */
const MAX_PASSED = 256;

export interface NearPair {
  /** Indices into the given sets, a < b. */
  readonly a: number;
  readonly b: number;
  /** Exact, over the two sets. */
  readonly jaccard: number;
}

export interface NearSearch {
  /** Pairs of no interest. */
  readonly skip: (a: number, b: number) => boolean;
  /** Members of a bucket that a newcomer is compared with, newest first: a bucket costs linear time. */
  readonly maxCompared: number;
  /** Pairs below are dropped; asked for each, so that it may rise while the search runs. */
  readonly floor: () => number;
  readonly found: (pair: NearPair) => void;
}

/** Finds pairs of overlapping sets with their exact Jaccard index; a pair may come more than once. */
export function findNearPairs(sets: readonly Float64Array[], { floor, found, ...search }: NearSearch): void {
  const flat = flatten(sets);
  for (let band = 0; band < BANDS; band += 1) {
    forEachCollision(bandKeys(flat, band), search, (a, b) => {
      const value = jaccard(sets[a] ?? EMPTY, sets[b] ?? EMPTY);
      if (value >= floor()) found({ a, b, jaccard: value });
    });
  }
}

const EMPTY = new Float64Array(0);

interface FlatSets {
  /** Low 32 bits of all hashes, set after set (what storing a number in an Int32Array keeps). */
  readonly hashes: Int32Array;
  /** Set i is hashes[starts[i]] .. hashes[starts[i + 1]]. */
  readonly starts: Int32Array;
}

function flatten(sets: readonly Float64Array[]): FlatSets {
  const starts = new Int32Array(sets.length + 1);
  for (const [index, set] of sets.entries()) starts[index + 1] = (starts[index] ?? 0) + set.length;
  const hashes = new Int32Array(starts[sets.length] ?? 0);
  for (const [index, set] of sets.entries()) hashes.set(set, starts[index] ?? 0);
  return { hashes, starts };
}

/** One number a set, equal when the two minima of the band are; -1 for an empty set, which has none. */
function bandKeys({ hashes, starts }: FlatSets, band: number): Float64Array {
  const seed = band * 4;
  const [factor0, factor1] = [constant(seed) | 1, constant(seed + 1) | 1];
  const [term0, term1] = [constant(seed + 2), constant(seed + 3)];
  const keys = new Float64Array(starts.length - 1);
  for (let set = 0; set < keys.length; set += 1) {
    const start = starts[set] ?? 0;
    const end = starts[set + 1] ?? 0;
    let min0 = 2 ** 32 - 1;
    let min1 = 2 ** 32 - 1;
    for (let index = start; index < end; index += 1) {
      const hash = hashes[index] ?? 0;
      min0 = Math.min(min0, (Math.imul(hash, factor0) + term0) >>> 0);
      min1 = Math.min(min1, (Math.imul(hash, factor1) + term1) >>> 0);
    }
    keys[set] = start === end ? -1 : (min0 >>> 11) * 2 ** 32 + min1;
  }
  return keys;
}

/** Fixed pseudo-random constants (Weyl sequence through the mix of MurmurHash3), the same in every version. */
function constant(index: number): number {
  let value = Math.imul(index + 1, 0x9e3779b9);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}

function forEachCollision(
  keys: Float64Array,
  { skip, maxCompared }: Pick<NearSearch, "skip" | "maxCompared">,
  visit: (a: number, b: number) => void,
): void {
  const older = chainEqualKeys(keys);
  for (const index of keys.keys()) {
    let member = older[index] ?? -1;
    let compared = 0;
    for (let passed = 0; member >= 0 && compared < maxCompared && passed < MAX_PASSED; passed += 1) {
      if (!skip(member, index)) {
        visit(member, index);
        compared += 1;
      }
      member = older[member] ?? -1;
    }
  }
}

/**
 * For each index the nearest one before it with the same key, or -1; negative keys are in no chain. A hash table
 * with open addressing, because a Map of as many fractional keys takes several times as long.
 */
function chainEqualKeys(keys: Float64Array): Int32Array {
  const bits = Math.ceil(Math.log2(2 * keys.length + 2));
  const mask = 2 ** bits - 1;
  const newest = new Int32Array(mask + 1).fill(-1);
  const older = new Int32Array(keys.length).fill(-1);
  for (const [index, key] of keys.entries()) {
    if (key < 0) continue;
    let slot = Math.imul(key ^ (key / 2 ** 32), 0x9e3779b1) >>> (32 - bits);
    for (let at = newest[slot] ?? -1; at >= 0 && keys[at] !== key; at = newest[slot] ?? -1) {
      slot = (slot + 1) & mask;
    }
    older[index] = newest[slot] ?? -1;
    newest[slot] = index;
  }
  return older;
}

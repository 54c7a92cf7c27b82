/** Words of a text in order, lower case, without punctuation. */
export function wordsOf(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const words: string[] = [];
  forEachWord(lower, (start, end) => words.push(lower.slice(start, end)));
  return words;
}

/** Equal for texts that differ in white space only. */
export function collapseSpace(text: string): string {
  const trimmed = text.trim();
  // Not replace(): its result is a tree of pieces, ten times the size of the text.
  return /[^\S ]| {2}/.test(trimmed) ? trimmed.split(/\s+/).join(" ") : trimmed;
}

/**
 * 53-bit hashes of every run of `size` words, in text order, repeats included; empty for shorter texts.
 * Two different runs agree by chance with odds of about 1e-16, so sets of these hashes stand for sets of runs.
 */
export function runHashes(text: string, size: number): Float64Array {
  return hashRuns(hashWords(text), size);
}

/** Sorted distinct hashes of word runs; a text of fewer than `size` words is one run, of fewer than `minWords` none. */
export function shingleSet(text: string, { size, minWords }: ShingleSizes): Float64Array {
  const words = hashWords(text);
  const { length } = words.high;
  return length < minWords ? new Float64Array(0) : distinct(hashRuns(words, Math.min(size, length)).sort());
}

interface ShingleSizes {
  readonly size: number;
  readonly minWords: number;
}

/** Shared share of two sorted sets: |a and b| / |a or b|; 0 when both are empty. */
export function jaccard(a: Float64Array, b: Float64Array): number {
  let shared = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const left = a[i] ?? 0;
    const right = b[j] ?? 0;
    if (left === right) shared += 1;
    if (left <= right) i += 1;
    if (right <= left) j += 1;
  }
  const union = a.length + b.length - shared;
  return union === 0 ? 0 : shared / union;
}

/** Four places: enough to read, and no float noise in a committed file. */
export function roundJaccard(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

/**
 * Ranges of UTF-16 code units that words are made of, instead of Unicode properties, which differ between Node
 * versions: digits, lower-case Latin, and all other scripts with the surrogate pairs.
 */
const WORD_UNITS = [
  [0x30, 0x39],
  [0x5f, 0x5f],
  [0x61, 0x7a],
  [0xc0, 0x1fff],
  [0x2c00, 0x2dff],
  [0x3100, 0x33ff],
  [0xa000, 0xf8ff],
] as const;
/** Kana and Han: a word each, because their scripts put no spaces between words. */
const LONE_UNITS = [
  [0x3040, 0x30ff],
  [0x3400, 0x9fff],
  [0xf900, 0xfaff],
] as const;

const OUTSIDE = 0;
const INSIDE = 1;
const LONE = 2;
const KIND_OF_UNIT = new Uint8Array(0x10000);
for (const [first, last] of WORD_UNITS) KIND_OF_UNIT.fill(INSIDE, first, last + 1);
for (const [first, last] of LONE_UNITS) KIND_OF_UNIT.fill(LONE, first, last + 1);

function forEachWord(lower: string, visit: (start: number, end: number) => void): void {
  let start = 0;
  for (let at = 0; at <= lower.length; at += 1) {
    // Past the end charCodeAt gives NaN, which is no index.
    const kind = KIND_OF_UNIT[lower.charCodeAt(at)] ?? OUTSIDE;
    if (kind === INSIDE) continue;
    if (at > start) visit(start, at);
    if (kind === LONE) visit(at, at + 1);
    start = at + 1;
  }
}

/** Two 32-bit hashes a word. Plain arrays: millions of short-lived typed arrays would outrun the collector. */
interface WordHashes {
  readonly high: readonly number[];
  readonly low: readonly number[];
}

function hashWords(text: string): WordHashes {
  const lower = text.toLowerCase();
  const high: number[] = [];
  const low: number[] = [];
  forEachWord(lower, (start, end) => {
    let [top, bottom] = [0x811c9dc5, 0x2545f491];
    for (let at = start; at < end; at += 1) {
      const unit = lower.charCodeAt(at);
      // FNV-1a over UTF-16 code units.
      top = Math.imul(top ^ unit, 0x01000193);
      bottom = Math.imul(bottom ^ unit, 0x01000193);
    }
    high.push(top);
    low.push(bottom);
  });
  return { high, low };
}

function hashRuns({ high, low }: WordHashes, size: number): Float64Array {
  const hashes = new Float64Array(Math.max(0, high.length - size + 1));
  for (let start = 0; start < hashes.length; start += 1) {
    const top = hashRun(high, start, size) & 0x1fffff;
    hashes[start] = top * 2 ** 32 + hashRun(low, start, size);
  }
  return hashes;
}

function distinct(sorted: Float64Array): Float64Array {
  let length = 0;
  for (const value of sorted) {
    if (length > 0 && sorted[length - 1] === value) continue;
    sorted[length] = value;
    length += 1;
  }
  return length === sorted.length ? sorted : sorted.slice(0, length);
}

function hashRun(wordHashes: readonly number[], start: number, size: number): number {
  let hash = size;
  for (let index = start; index < start + size; index += 1) {
    hash = Math.imul(((hash << 5) | (hash >>> 27)) ^ (wordHashes[index] ?? 0), 0x9e3779b1);
  }
  return mix(hash);
}

/** Final mix of MurmurHash3: every input bit moves every output bit, which MinHash below relies on. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

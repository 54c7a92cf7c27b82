/**
 * Part of every stage key. Raise a number when the same inputs would give another result; results computed
 * before then no longer count.
 */
export const CODE_VERSIONS = {
  prompts: 2,
  generate: 1,
  distil: 1,
  calibrate: 1,
  score: 1,
} as const;

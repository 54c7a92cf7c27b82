/**
 * Exact two-sided McNemar test: probability, were gains and losses equally likely, of a split of the
 * `gained + lost` changed items at least this uneven. It takes items as independent, so it is too sure of
 * itself where items share tasks.
 */
export function mcnemarExact(gained: number, lost: number): number {
  const changed = gained + lost;
  const fewer = Math.min(gained, lost);
  // In logarithms, because 2^-n is 0 in floating point from 1,075 changed items on.
  let logTerm = -changed * Math.LN2;
  let tail = 0;
  for (let k = 0; k <= fewer; k++) {
    tail += Math.exp(logTerm);
    logTerm += Math.log((changed - k) / (k + 1));
  }
  return Math.min(1, 2 * tail);
}

/** 0.975 quantile of the standard normal distribution. */
export const Z_975 = 1.959963984540054;

/**
 * Wilson score interval (95 %) of a share. `n` may be an effective number of items and need not be whole.
 * Stays inside 0..1 and has a width at 0 % and 100 %, where a t interval has none.
 */
export function wilsonInterval(share: number, n: number): [number, number] {
  const z2 = Z_975 * Z_975;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z_975 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  // At 0 % and 100 % the two terms are equal and rounding must not leave 1e-17 beyond the end.
  return [share === 0 ? 0 : centre - half, share === 1 ? 1 : centre + half];
}

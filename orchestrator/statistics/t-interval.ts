import tQuantile from "@stdlib/stats-base-dists-t-quantile";

/** Two-sided 95 % interval from Student's t with `df` >= 1 degrees of freedom; not clamped to the range of the mean. */
export function tInterval(mean: number, se: number, df: number): [number, number] {
  const half = tQuantile(0.975, df) * se;
  return [mean - half, mean + half];
}

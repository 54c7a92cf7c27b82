import { type Clustered, clusteredMean, clusterSums } from "./clustered-mean.ts";
import { type SignFlip, signFlip } from "./sign-flip.ts";
import { tInterval } from "./t-interval.ts";
import { Z_975 } from "./wilson.ts";

export interface PairedDelta {
  readonly estimate: number;
  readonly se: number | null;
  readonly ci: [number, number] | null;
  readonly df: number | null;
  readonly n: number;
  readonly clusters: number;
  readonly signFlip: SignFlip;
  /** Smallest true difference found with 80 % power at 5 %: 2.8 SE. */
  readonly mde: number | null;
  readonly note: string | null;
}

/**
 * Mean of paired differences (each in -1..1) with clustered standard error, t interval and a sign-flip p a
 * cluster. Pairing needs no further formula: this equals sqrt(SEa^2 + SEb^2 - 2 cov). Null without differences.
 */
export function pairedDelta(
  differences: readonly Clustered[],
  options: { seed: number; draws: number },
): PairedDelta | null {
  const moments = clusteredMean(differences);
  if (moments === null) return null;
  const { mean, se, clusters, n } = moments;
  const sums = clusterSums(differences).map((each) => each.sum);
  return {
    estimate: mean,
    se,
    ci: interval(mean, se, clusters),
    df: clusters > 1 ? clusters - 1 : null,
    n,
    clusters,
    signFlip: signFlip(sums, options),
    mde: se === null || se === 0 ? null : 2.8 * se,
    note: noteOf(se, clusters),
  };
}

function interval(mean: number, se: number | null, clusters: number): [number, number] | null {
  if (se === null) return null;
  if (se > 0) return tInterval(mean, se, clusters - 1);
  const reach = (Z_975 * Z_975) / (clusters + Z_975 * Z_975);
  return [Math.max(-1, mean - reach), Math.min(1, mean + reach)];
}

function noteOf(se: number | null, clusters: number): string | null {
  if (se === null) return "one task: no standard error";
  // Width 0 would claim certainty from, say, four tasks in which nothing changed.
  if (se === 0) return "no spread between tasks: Wilson bound of an unseen change, one item a task";
  return clusters < 10 ? `few tasks (${clusters})` : null;
}

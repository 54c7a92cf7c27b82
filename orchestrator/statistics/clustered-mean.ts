import { byCodeUnit } from "../canonical.ts";

/** One observation and the cluster (task) it shares its luck with. */
export interface Clustered {
  readonly cluster: string;
  readonly value: number;
}

export interface ClusteredMean {
  readonly n: number;
  readonly clusters: number;
  /** Share of the observations that the largest cluster holds, 0..1. */
  readonly largestShare: number;
  readonly mean: number;
  /** Cluster-robust standard error; null with one cluster, where the spread between clusters is unknown. */
  readonly se: number | null;
  /** Standard error that takes every observation as independent; null with one observation. */
  readonly iidSe: number | null;
}

/**
 * Mean with a standard error that allows observations of one cluster to move together:
 * sqrt(G/(G-1) * sum over clusters of (sum of (x - mean))^2) / n (Miller, arXiv 2411.00640, appendix A, with
 * the G/(G-1) correction that statsmodels applies). Undefined (null) for no observations.
 */
export function clusteredMean(values: readonly Clustered[]): ClusteredMean | null {
  const n = values.length;
  if (n === 0) return null;
  const sums = clusterSums(values);
  const clusters = sums.length;
  const mean = sums.reduce((total, each) => total + each.sum, 0) / n;
  const spread = sums.reduce((total, each) => total + (each.sum - each.n * mean) ** 2, 0);
  const squares = values.reduce((total, each) => total + (each.value - mean) ** 2, 0);
  return {
    n,
    clusters,
    largestShare: Math.max(...sums.map((each) => each.n)) / n,
    mean,
    se: clusters > 1 ? Math.sqrt((clusters / (clusters - 1)) * spread) / n : null,
    iidSe: n > 1 ? Math.sqrt(squares / (n - 1) / n) : null,
  };
}

interface ClusterSum {
  readonly cluster: string;
  readonly n: number;
  readonly sum: number;
}

/** Size and sum of each cluster, in code-unit order of the names so that the result ignores row order. */
export function clusterSums(values: readonly Clustered[]): ClusterSum[] {
  const byCluster = new Map<string, ClusterSum>();
  for (const { cluster, value } of values) {
    const before = byCluster.get(cluster);
    byCluster.set(cluster, { cluster, n: (before?.n ?? 0) + 1, sum: (before?.sum ?? 0) + value });
  }
  return [...byCluster.values()].sort((a, b) => byCodeUnit(a.cluster, b.cluster));
}

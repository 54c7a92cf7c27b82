import { type Clustered, type ClusteredMean, clusteredMean } from "./clustered-mean.ts";
import { tInterval } from "./t-interval.ts";
import { wilsonInterval } from "./wilson.ts";

/** Below this many clusters a t interval of a share is not trusted. */
const FEW_CLUSTERS = 10;

export interface ClusteredRate {
  readonly n: number;
  readonly clusters: number;
  readonly rate: number | null;
  readonly se: number | null;
  readonly df: number | null;
  readonly ci: [number, number] | null;
  readonly ciMethod: "clustered_t" | "wilson_effective_n" | null;
  /** (clustered SE / independent SE)^2; null where the independent SE is 0 or unknown. */
  readonly designEffect: number | null;
  /** n / design effect, at most n; the number of clusters where the design effect is unknown. */
  readonly effectiveN: number | null;
  readonly largestClusterShare: number | null;
  /** Why a number is null or the interval is not the usual one. */
  readonly note: string | null;
}

/**
 * A share of 0/1 observations with its 95 % interval: Student's t on the clustered standard error, or a Wilson
 * interval on the effective n where t fails (0 %, 100 %, fewer than 10 clusters).
 */
export function clusteredRate(values: readonly Clustered[]): ClusteredRate {
  const moments = clusteredMean(values);
  if (moments === null) return EMPTY;
  const designEffect = designEffectOf(moments);
  const effectiveN = effectiveNumber(moments, designEffect);
  const note = wilsonReason(moments);
  const { n, clusters, mean, se } = moments;
  const useT = note === null && se !== null;
  return {
    n,
    clusters,
    rate: mean,
    se,
    df: clusters > 1 ? clusters - 1 : null,
    ci: useT ? tInterval(mean, se, clusters - 1) : wilsonInterval(mean, effectiveN),
    ciMethod: useT ? "clustered_t" : "wilson_effective_n",
    designEffect,
    effectiveN,
    largestClusterShare: moments.largestShare,
    note,
  };
}

const EMPTY: ClusteredRate = {
  n: 0,
  clusters: 0,
  rate: null,
  se: null,
  df: null,
  ci: null,
  ciMethod: null,
  designEffect: null,
  effectiveN: null,
  largestClusterShare: null,
  note: "no items",
};

function designEffectOf({ se, iidSe }: ClusteredMean): number | null {
  if (se === null || iidSe === null || iidSe === 0) return null;
  return (se / iidSe) ** 2;
}

// At 0 % and 100 % the data cannot say how much items of one task move together; taking each task as one
// item is the cautious end.
function effectiveNumber({ n, clusters }: ClusteredMean, designEffect: number | null): number {
  if (designEffect === null) return clusters;
  return designEffect > 1 ? n / designEffect : n;
}

function wilsonReason({ mean, clusters }: ClusteredMean): string | null {
  const interval = "Wilson interval on the effective number of items";
  if (clusters === 1) return `one task: no standard error, ${interval}`;
  if (mean === 0 || mean === 1) return `${mean * 100} %: ${interval}, one a task`;
  if (clusters < FEW_CLUSTERS) return `few tasks (${clusters}): ${interval}`;
  return null;
}

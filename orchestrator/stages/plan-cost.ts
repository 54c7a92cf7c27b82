import { countParameters } from "../cost/architecture.ts";
import { type CostSetting, estimateStage, type StageEstimate, UTILISATIONS } from "../cost/estimate.ts";
import type { StageWork } from "../cost/work.ts";
import type { KnownArchitecture } from "./cost-setting.ts";

/** Bytes on the device by part, at the moment when a stage needs most; `host` lies beside it. */
type MemoryBytes = StageEstimate["memory"];

export interface StageCost {
  /** Through the model, forward passes and training alike; replies at their cap, every trace accepted. */
  readonly tokens: number;
  /** What is left of them when each token of a question is computed once. */
  readonly unique_tokens: number;
  readonly flops: number;
  /** Part of the hours that utilisation does not change: reading the weights for each written token. */
  readonly decode_hours: number;
  readonly hours: Hours;
  readonly memory: MemoryBytes;
  readonly fits: boolean;
  /** Tokens of the longest prompt with its reply for which the stage would fit. */
  readonly longest_that_fits: number;
}

/** At three shares of the accelerator's peak. */
export interface Hours {
  readonly at_30_percent: number;
  readonly at_40_percent: number;
  readonly at_50_percent: number;
}

export interface CostBasis {
  readonly model: {
    readonly source: string;
    readonly sizes_from: string;
    readonly parameters: number;
    readonly dtype: string;
  };
  readonly accelerator: {
    readonly name: string;
    readonly usable_bytes: number;
    readonly flops_per_second: number;
    readonly source: string;
  };
  readonly delta_code: "fused" | "torch";
  readonly gradient_checkpointing: boolean;
  readonly rank: number;
}

export function stageCost(setting: CostSetting, work: StageWork): StageCost {
  const estimate = estimateStage(setting, work);
  return {
    tokens: Math.round(estimate.tokens),
    unique_tokens: Math.round(estimate.uniqueTokens),
    flops: estimate.flops,
    decode_hours: estimate.decodeSeconds / 3600,
    hours: hoursOf(estimate.seconds),
    memory: estimate.memory,
    fits: estimate.fits,
    longest_that_fits: estimate.longestThatFits,
  };
}

export function addHours(stages: readonly StageCost[]): Hours {
  const keys = ["at_30_percent", "at_40_percent", "at_50_percent"] as const;
  const seconds = keys.map((key) => 3600 * stages.reduce((total, { hours }) => total + hours[key], 0));
  return hoursOf(seconds);
}

export function costBasis(
  setting: CostSetting,
  { source, known }: { source: string; known: KnownArchitecture },
): CostBasis {
  const { architecture, accelerator, dtype } = setting;
  return {
    model: { source, sizes_from: known.source, parameters: countParameters(architecture), dtype },
    accelerator: {
      name: accelerator.name,
      usable_bytes: accelerator.usableBytes,
      flops_per_second: accelerator.flopsPerSecond[dtype],
      source: accelerator.source,
    },
    delta_code: setting.deltaCode,
    gradient_checkpointing: setting.checkpointing,
    rank: setting.adapter.rank,
  };
}

function hoursOf(seconds: readonly number[]): Hours {
  const [low, middle, high] = UTILISATIONS.map((_, index) => (seconds[index] ?? 0) / 3600);
  return { at_30_percent: low ?? 0, at_40_percent: middle ?? 0, at_50_percent: high ?? 0 };
}

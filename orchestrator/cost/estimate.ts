import type { Accelerator } from "./accelerators.ts";
import type { AdapterShape } from "./adapter.ts";
import { type Architecture, countParameters, sum } from "./architecture.ts";
import { forwardFlops, headFlops, type Span, trainingFlops } from "./flops.ts";
import { cacheBytes, type Dtype, dtypeBytes, type MemoryParts } from "./memory.ts";
import { longestThatFits, stageMemory } from "./peak.ts";
import {
  type Branches,
  type Form,
  promptSpans,
  type QuestionPrompts,
  replySpans,
  type StageWork,
  sequenceSpans,
  tokensOf,
} from "./work.ts";

/** Everything about a run that cost depends on, apart from what its stages read. */
export interface CostSetting {
  readonly architecture: Architecture;
  readonly accelerator: Accelerator;
  readonly dtype: Dtype;
  readonly adapter: AdapterShape;
  readonly adapterInputs: "float32" | "base";
  readonly deltaCode: "fused" | "torch";
  readonly checkpointing: boolean;
  readonly offload: boolean;
  readonly chunkPositions: number;
  readonly direction: "forward" | "reverse" | "jensen_shannon";
  readonly form: Form;
}

/** Shares of the accelerator's peak for which hours are given. */
export const UTILISATIONS = [0.3, 0.4, 0.5] as const;

export interface StageEstimate {
  /** Through the model in the setting's form, and what the shared form would leave of them. */
  readonly tokens: number;
  readonly uniqueTokens: number;
  readonly flops: number;
  /** Reading the weights for each written token: a floor that no utilisation lowers. */
  readonly decodeSeconds: number;
  /** At each of UTILISATIONS, decoding included. */
  readonly seconds: readonly number[];
  readonly memory: MemoryParts;
  readonly fits: boolean;
  /** The longest prompt with its reply that would fit; 0 = not even the weights do. */
  readonly longestThatFits: number;
}

/** FLOPs, hours and peak memory of one stage; formulas in docs/cost-model.md. */
export function estimateStage(setting: CostSetting, work: StageWork): StageEstimate {
  const passed = work.each * passedFlops(setting, work);
  const one = decodeCost(setting, work);
  const decode = { flops: work.each * one.flops, seconds: work.each * one.seconds };
  const rate = setting.accelerator.flopsPerSecond[setting.dtype];
  const memory = stageMemory(setting, work);
  return {
    tokens: work.each * stageTokens(setting.form, work),
    uniqueTokens: work.each * stageTokens("shared", work),
    flops: passed + decode.flops,
    decodeSeconds: decode.seconds,
    seconds: UTILISATIONS.map(
      (share) => passed / rate / share + Math.max(decode.seconds, decode.flops / rate / share),
    ),
    memory,
    fits: memory.total <= setting.accelerator.usableBytes,
    longestThatFits: longestThatFits(setting, work),
  };
}

function stageTokens(form: Form, work: StageWork): number {
  if (work.kind === "answer") {
    return sum(branchesOf(work, work.questions), (branches) =>
      tokensOf([...promptSpans(form, branches), ...replySpans(branches)]),
    );
  }
  const student = sum(branchesOf(work, work.questions), (it) => tokensOf(sequenceSpans(form, it)));
  const teacher = sum(branchesOf(work, work.teacher), (it) => tokensOf(sequenceSpans(form, it)));
  return work.passes * student + Math.min(1, work.passes) * teacher;
}

/** What is computed many tokens at a time: prompts that are read, and training. */
function passedFlops(setting: CostSetting, work: StageWork): number {
  const { architecture, form, adapter, checkpointing } = setting;
  if (work.kind === "answer") {
    const spans = branchesOf(work, work.questions).flatMap((it) => promptSpans(form, it));
    return forwardFlops({ architecture, spans, adapter: work.adapted ? adapter : null });
  }
  const student = branchesOf(work, work.questions).flatMap((it) => sequenceSpans(form, it));
  const teacher = branchesOf(work, work.teacher).flatMap((it) => sequenceSpans(form, it));
  const step = trainingFlops({ architecture, spans: student, adapter, checkpointing });
  const cached = forwardFlops({ architecture, spans: teacher, adapter: null });
  return work.passes * (step + lossFlops(architecture, work)) + Math.min(1, work.passes) * cached;
}

/** The vocabulary at each trained position: both sides, both again going back, and the student's gradient. */
function lossFlops(architecture: Architecture, work: StageWork): number {
  const replies = sum(work.questions, ({ prompts }) => prompts.length) * work.samples;
  if (work.kind === "calibrate") return 2 * headFlops(architecture, replies);
  return 5 * headFlops(architecture, replies * work.replyTokens);
}

interface DecodeCost {
  readonly flops: number;
  readonly seconds: number;
}

function decodeCost(setting: CostSetting, work: StageWork): DecodeCost {
  if (work.kind !== "answer") return { flops: 0, seconds: 0 };
  const { architecture, accelerator, dtype } = setting;
  const replies = branchesOf(work, work.questions);
  const spans: Span[] = replies.flatMap(replySpans);
  const adapter = work.adapted ? setting.adapter : null;
  const flops = forwardFlops({ architecture, spans, adapter }) + headFlops(architecture, tokensOf(spans));
  const bytes = sum(replies, (branches) => bytesRead(setting, branches));
  const embeddings = architecture.tied ? 0 : architecture.hidden * architecture.vocab;
  const weights = dtypeBytes(dtype) * (countParameters(architecture) - embeddings);
  const steps = sum(replies, (branches) => decodeSteps(setting, branches));
  return { flops, seconds: (weights * steps + bytes) / accelerator.bytesPerSecond };
}

/** Passes over the weights: the shared form writes all replies of a question side by side. */
function decodeSteps({ form }: CostSetting, { question, samples, replyTokens }: Branches): number {
  return form === "shared" ? replyTokens : replyTokens * samples * question.prompts.length;
}

/** Cache that is read while the replies of a question are written. */
function bytesRead({ architecture, dtype }: CostSetting, branches: Branches): number {
  return sum(
    replySpans(branches),
    ({ context, tokens }) =>
      tokens * cacheBytes({ architecture, dtype, replies: 1, cachedTokens: context + tokens / 2 }),
  );
}

function branchesOf(work: StageWork, questions: readonly QuestionPrompts[]): Branches[] {
  return questions.map((question) => ({
    question,
    samples: work.samples,
    replyTokens: work.replyTokens,
  }));
}

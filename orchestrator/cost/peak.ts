import { sum } from "./architecture.ts";
import type { CostSetting } from "./estimate.ts";
import { answerMemory, dtypeBytes, type MemoryParts, trainingMemory } from "./memory.ts";
import {
  type Branches,
  promptSpans,
  type QuestionPrompts,
  type StageWork,
  sequenceSpans,
  tokensOf,
} from "./work.ts";

/** Memory at the moment when a stage needs most: at the question that puts most tokens through together. */
export function stageMemory(setting: CostSetting, work: StageWork): MemoryParts {
  const all = largestOf(work).map((question) => memoryAt(setting, { work, question }));
  const kept = keptStates(setting, work);
  const largest = all.reduce((most, next) => (next.total > most.total ? next : most));
  if (setting.accelerator.device === "cuda") return { ...largest, host: largest.host + kept };
  return { ...largest, stored: largest.stored + kept, total: largest.total + kept };
}

/**
 * Tokens of the longest prompt, reply included, whose question would still fit, its presentations being as
 * alike as the longest one's. Memory is affine in the tokens, so two points give the line.
 */
export function longestThatFits(setting: CostSetting, work: StageWork): number {
  const longest = largestOf(work).reduce((most, next) => (length(next) > length(most) ? next : most));
  const size = length(longest) + work.replyTokens;
  const here = memoryAt(setting, { work, question: longest }).total;
  const half = { prompts: longest.prompts.map((it) => it / 2), shared: longest.shared / 2 };
  const halfWork = { ...work, replyTokens: work.replyTokens / 2 };
  const perToken = (here - memoryAt(setting, { work: halfWork, question: half }).total) / (size / 2);
  const kept = setting.accelerator.device === "cpu" ? keptStates(setting, work) : 0;
  const room = setting.accelerator.usableBytes - kept - (here - perToken * size);
  return Math.max(0, Math.floor(room / perToken));
}

function largestOf({ longest, questions }: StageWork): readonly QuestionPrompts[] {
  return longest === undefined ? questions : [longest];
}

function length({ prompts }: QuestionPrompts): number {
  return Math.max(...prompts);
}

function memoryAt(
  setting: CostSetting,
  { work, question }: { work: StageWork; question: QuestionPrompts },
): MemoryParts {
  const branches: Branches = { question, samples: work.samples, replyTokens: work.replyTokens };
  const { architecture, dtype, adapterInputs, deltaCode, form } = setting;
  const base = { architecture, dtype, adapterInputs, deltaCode, device: setting.accelerator.device };
  const together = form === "shared" ? tokensOf : longestSpan;
  if (work.kind === "answer") {
    const replies = form === "shared" ? question.prompts.length * work.samples : 1;
    const tokens = together(promptSpans(form, branches));
    const cachedTokens =
      form === "shared" ? tokens + replies * work.replyTokens : length(question) + work.replyTokens;
    const adapter = work.adapted ? setting.adapter : null;
    return answerMemory({ ...base, adapter, tokens, replies, cachedTokens });
  }
  return trainingMemory({
    ...base,
    adapter: setting.adapter,
    tokens: together(sequenceSpans(form, branches)),
    checkpointing: setting.checkpointing,
    offload: setting.offload,
    chunkPositions: work.kind === "distil" ? setting.chunkPositions : 1,
    chunkCopies: setting.direction === "jensen_shannon" ? 9 : 7,
  });
}

function longestSpan(spans: readonly { readonly tokens: number }[]): number {
  return Math.max(...spans.map(({ tokens }) => tokens));
}

/** The teacher's hidden states at the replies, which a distillation keeps in host memory. */
function keptStates({ architecture, dtype }: CostSetting, work: StageWork): number {
  if (work.kind !== "distil") return 0;
  const replies = work.each * work.samples * sum(work.questions, ({ prompts }) => prompts.length);
  return replies * work.replyTokens * architecture.hidden * dtypeBytes(dtype);
}

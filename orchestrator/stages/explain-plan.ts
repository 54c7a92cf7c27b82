import { UsageError } from "../errors.ts";
import { tableLengths } from "../runs/prompts-file.ts";
import { type AssumedQuestions, assumedStages } from "./assumed-work.ts";
import {
  architectureIn,
  costSetting,
  type KnownArchitecture,
  type MachineChoice,
  publishedArchitecture,
} from "./cost-setting.ts";
import { planStages } from "./plan.ts";
import { addHours, type CostBasis, costBasis, type Hours, type StageCost, stageCost } from "./plan-cost.ts";
import { foldsToRun, type PrepareRequest, prepare, resolveRecipeModel } from "./prepare.ts";
import { stageState } from "./stage-state.ts";
import { type ReplyLength, replyTokens, workOf } from "./stage-work.ts";

export interface ExplainedStage extends StageCost {
  readonly label: string;
  readonly stage: string;
  /** null where no question was read, so that nobody knows it. */
  readonly key: string | null;
  readonly state: "done" | "begun" | "to do" | "assumed";
  readonly why: string;
}

export interface ExplainedPlan extends CostBasis {
  readonly stages: readonly ExplainedStage[];
  /** Of the stages that are not done. */
  readonly tokens_to_compute: number;
  readonly unique_tokens_to_compute: number;
  readonly flops_to_compute: number;
  readonly hours_to_compute: Hours;
  /** The part of them that no utilisation lowers: reading the weights for each written token. */
  readonly decode_hours_to_compute: number;
  /** Whether every stage fits. */
  readonly fits: boolean;
}

export type PlanRequest = PrepareRequest & ReplyLength & { readonly machine: MachineChoice };

/**
 * What a recipe would compute, what is there already, for the rest what differs from the nearest result, and what
 * it takes. Of a hub model the tokenizer and config.json are fetched, never the weights.
 */
export async function explainPlan(request: PlanRequest): Promise<ExplainedPlan> {
  const { recipe } = request.loaded;
  const { plan, model } = await prepare({ ...request, weights: "unneeded" });
  const known = await architectureIn(model.path);
  const setting = await costSetting(recipe, { ...known, machine: request.machine });
  const input = {
    lengths: await tableLengths(plan.promptsFile),
    reply: replyTokens(recipe, request),
    samples: { distil: recipe.generate.traces, calibrate: recipe.calibrate?.traces ?? 1 },
  };
  const stages: ExplainedStage[] = [];
  for (const planned of planStages(plan)) {
    const { label, stage, key } = planned.task;
    const { state, why } = await stageState(planned, request.checkpoints);
    const cost = stageCost(setting, workOf(planned.task, input));
    stages.push({ label, stage, key, state, why, ...cost });
  }
  return summed(stages, costBasis(setting, { source: model.source, known }));
}

/**
 * The same for questions that nobody has read, from their number and lengths; whether stages are done cannot be
 * known then. The sizes of models listed in cost/known-models.ts need no file and no network.
 */
export async function estimatePlan(
  request: PlanRequest & { readonly questions: AssumedQuestions },
): Promise<ExplainedPlan> {
  const { recipe } = request.loaded;
  const folds = foldsToRun(request, recipe.split.k);
  const { questions } = request;
  if (questions.count < recipe.split.k) {
    throw new UsageError(`--question-count ${questions.count}: too few for ${recipe.split.k} folds.`);
  }
  const known = await sizesOf(request);
  const setting = await costSetting(recipe, { ...known, machine: request.machine });
  const assumed = assumedStages(recipe, { questions, folds, reply: replyTokens(recipe, request) });
  const stages = assumed.map(({ label, stage, work }) => ({
    label,
    stage,
    key: null,
    state: "assumed" as const,
    why: "assumed from the numbers given",
    ...stageCost(setting, work),
  }));
  return summed(stages, costBasis(setting, { source: recipe.model.source, known }));
}

async function sizesOf(request: PlanRequest): Promise<KnownArchitecture> {
  const published = publishedArchitecture(request.loaded.recipe.model.source);
  if (published !== undefined) return published;
  const model = await resolveRecipeModel({ ...request, weights: "unneeded" });
  return architectureIn(model.path);
}

function summed(stages: readonly ExplainedStage[], basis: CostBasis): ExplainedPlan {
  const open = stages.filter(({ state }) => state !== "done");
  return {
    ...basis,
    stages,
    tokens_to_compute: open.reduce((total, cost) => total + cost.tokens, 0),
    unique_tokens_to_compute: open.reduce((total, cost) => total + cost.unique_tokens, 0),
    flops_to_compute: open.reduce((total, cost) => total + cost.flops, 0),
    hours_to_compute: addHours(open),
    decode_hours_to_compute: open.reduce((total, cost) => total + cost.decode_hours, 0),
    fits: stages.every(({ fits }) => fits),
  };
}

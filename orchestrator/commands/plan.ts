import type { Argv, CommandModule } from "yargs";
import { UsageError } from "../errors.ts";
import { checkpointsOption, jsonOption, print, printJson, sayOnStderr, wholeNumber } from "./common.ts";

interface PlanArguments {
  readonly recipe: string;
  readonly fold: number | undefined;
  readonly accelerator: string | undefined;
  readonly "fused-kernels": boolean;
  readonly "reply-tokens": number | undefined;
  readonly "prompt-tokens": number | undefined;
  readonly "question-count": number | undefined;
  readonly "longest-tokens": number | undefined;
  readonly checkpoints: string;
  readonly json: boolean;
}

function builder(yargs: Argv): Argv<PlanArguments> {
  return yargs
    .positional("recipe", {
      type: "string",
      demandOption: true,
      describe: "Name in recipes/, or a YAML file",
    })
    .option("fold", { type: "number", describe: "Plan this fold only" })
    .option("accelerator", {
      type: "string",
      describe: "a100-80gb, a100-40gb, h100-80gb, h200-141gb or cpu; default by the recipe's device",
    })
    .option("fused-kernels", {
      type: "boolean",
      default: false,
      describe: "flash-linear-attention is installed (Qwen3.5-type models on a GPU)",
    })
    .option("reply-tokens", { type: "number", describe: "Mean tokens of a reply, instead of the cap" })
    .option("prompt-tokens", {
      type: "number",
      describe: "Estimate without reading the questions: mean tokens of a prompt",
    })
    .option("question-count", { type: "number", describe: "With --prompt-tokens: number of questions" })
    .option("longest-tokens", {
      type: "number",
      describe: "With --prompt-tokens: the longest prompt; default: the recipe's limit",
    })
    .options({ ...checkpointsOption, ...jsonOption }) as Argv<PlanArguments>;
}

export const planCommand: CommandModule<object, PlanArguments> = {
  command: "plan <recipe>",
  describe: "What a recipe computes and what it takes: stages, tokens, FLOPs, memory, hours",
  builder,
  async handler(args) {
    const { loadRecipe } = await import("../recipe-file.ts");
    const { estimatePlan, explainPlan } = await import("../stages/explain-plan.ts");
    const { planLines } = await import("./plan-lines.ts");
    const fold = wholeNumber("fold", args.fold);
    const reply = wholeNumber("reply-tokens", args["reply-tokens"]);
    const loaded = await loadRecipe(args.recipe);
    const request = {
      loaded,
      checkpoints: args.checkpoints,
      machine: {
        fusedKernels: args["fused-kernels"],
        ...(args.accelerator !== undefined && { accelerator: args.accelerator }),
      },
      ...(fold !== undefined && { fold }),
      ...(reply !== undefined && { meanReplyTokens: reply }),
      say: sayOnStderr,
    };
    const questions = assumedQuestions(args, loaded.recipe.prompts.student_tokens);
    const plan =
      questions === undefined ? await explainPlan(request) : await estimatePlan({ ...request, questions });
    if (args.json) return printJson(plan);
    for (const line of planLines(plan)) print(line);
  },
};

function assumedQuestions(args: PlanArguments, limit: number) {
  const promptTokens = positive("prompt-tokens", args["prompt-tokens"]);
  const count = positive("question-count", args["question-count"]);
  const longest = positive("longest-tokens", args["longest-tokens"]);
  if (promptTokens === undefined && count === undefined && longest === undefined) return undefined;
  if (promptTokens === undefined || count === undefined) {
    throw new UsageError("An estimate without questions takes both --prompt-tokens and --question-count.");
  }
  const longestTokens = longest ?? Math.max(limit, promptTokens);
  if (longestTokens >= promptTokens) return { count, promptTokens, longestTokens };
  throw new UsageError(`--longest-tokens ${longest} is less than the mean, ${promptTokens}.`);
}

function positive(flag: string, value: number | undefined): number | undefined {
  const whole = wholeNumber(flag, value);
  if (whole !== 0) return whole;
  throw new UsageError(`--${flag} takes a whole number from 1 on.`, { facts: { flag } });
}

import type { Argv, CommandModule } from "yargs";
import { checkpointsOption, jsonOption, print, printJson, sayOnStderr, wholeNumber } from "./common.ts";

function builder(yargs: Argv) {
  return yargs
    .positional("recipe", {
      type: "string",
      demandOption: true,
      describe: "Name in recipes/, or a YAML file",
    })
    .option("fold", { type: "number", describe: "Plan this fold only" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type PlanArguments = Awaited<ReturnType<typeof builder>["argv"]>;

export const planCommand: CommandModule<object, PlanArguments> = {
  command: "plan <recipe>",
  describe: "The stages of a recipe: what is done, what is not and why, and how many tokens it takes",
  builder,
  async handler({ recipe, fold, checkpoints, json }) {
    const { loadRecipe } = await import("../recipe-file.ts");
    const { explainPlan } = await import("../stages/explain-plan.ts");
    const foldNumber = wholeNumber("fold", fold);
    const plan = await explainPlan({
      loaded: await loadRecipe(recipe),
      checkpoints,
      ...(foldNumber !== undefined && { fold: foldNumber }),
      say: sayOnStderr,
    });
    if (json) return printJson(plan);
    for (const stage of plan.stages) {
      print(
        `${stage.state.padEnd(8)} ${stage.label.padEnd(34)} ${tokensText(stage.tokens).padStart(10)}  ${stage.why}`,
      );
    }
    print(`total to compute: ${tokensText(plan.tokens_to_compute)} tokens`);
  },
};

function tokensText(tokens: number): string {
  return tokens >= 1e6 ? `${(tokens / 1e6).toFixed(1)} M` : `${Math.round(tokens / 100) / 10} k`;
}

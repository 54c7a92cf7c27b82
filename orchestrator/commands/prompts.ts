import type { Argv, CommandModule } from "yargs";
import { TEACHER_TEMPLATE_NAMES } from "../prompts/index.ts";
import type { ShowOptions } from "../prompts/show.ts";
import { ORDERS } from "../questions/schema.ts";
import type { Recipe } from "../recipe.ts";
import { checkpointsOption, jsonOption, sayOnStderr } from "./common.ts";

function showOptions(yargs: Argv) {
  return yargs
    .positional("id", { type: "string", demandOption: true, describe: "Id of the question" })
    .option("recipe", { type: "string", default: "quickstart", describe: "Whose prompts: name or YAML file" })
    .option("questions", { type: "string", describe: "Question set, instead of the recipe's" })
    .option("model", { type: "string", describe: "Model or tokenizer folder, instead of the recipe's" })
    .option("template", {
      choices: TEACHER_TEMPLATE_NAMES,
      describe: "Teacher template, instead of the recipe's",
    })
    .option("side", { choices: ["student", "teacher"] as const, default: "student" as const })
    .option("order", { choices: ORDERS, default: "published" as const })
    .option("ids", { type: "boolean", default: false, describe: "Print the token ids instead" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type ShowArguments = Awaited<ReturnType<typeof showOptions>["argv"]>;

const showCommand: CommandModule<object, ShowArguments> = {
  command: "show <id>",
  describe: "Print the prompt of one question, exactly; on a terminal the demonstration is highlighted",
  builder: showOptions,
  async handler(args) {
    const { loadRecipe } = await import("../recipe-file.ts");
    const { showPrompt } = await import("../prompts/show.ts");
    const { presentationsOf } = await import("../stages/presentations-of.ts");
    const recipe = changed((await loadRecipe(args.recipe)).recipe, args);
    const presentations = await presentationsOf({ ...args, recipe, warn: sayOnStderr });
    for (const presentation of presentations.filter(({ order }) => order === args.order)) {
      process.stdout.write(showPrompt(presentation, { side: args.side, form: formOf(args) }));
    }
  },
};

/** `palate prompts`: shows prompts, trains nothing. */
export const promptsCommand: CommandModule = {
  command: "prompts",
  describe: "Show what the model gets",
  builder: (yargs) => yargs.command(showCommand).demandCommand(1, "Say what to do: show."),
  handler: () => undefined,
};

function changed(recipe: Recipe, { model, questions, template }: ShowArguments): Recipe {
  return {
    ...recipe,
    model: model === undefined ? recipe.model : { ...recipe.model, source: model, revision: null },
    questions: questions === undefined ? recipe.questions : { ...recipe.questions, source: questions },
    prompts: template === undefined ? recipe.prompts : { ...recipe.prompts, teacher_template: template },
  };
}

function formOf({ ids, json }: Pick<ShowArguments, "ids" | "json">): ShowOptions["form"] {
  if (json) return "json";
  if (ids) return "ids";
  return process.stdout.isTTY ? "terminal" : "text";
}

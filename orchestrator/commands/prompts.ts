import type { ArgumentsCamelCase, CommandModule } from "yargs";
import { cacheFolder } from "../cache-folder.ts";
import { DataError } from "../errors.ts";
import { TEACHER_TEMPLATE_NAMES, type TeacherTemplateName } from "../prompts/index.ts";
import { PREFIX_COLUMNS, type PrefixColumn, REASONING, type Reasoning } from "../prompts/question-view.ts";
import type { ShowOptions } from "../prompts/show.ts";
import { ORDERS, type Order, type QuestionSet } from "../questions/schema.ts";

interface ShowArguments {
  readonly id: string;
  readonly questions: string;
  readonly model: string;
  readonly side: ShowOptions["side"];
  readonly order: Order;
  readonly template: TeacherTemplateName;
  readonly reasoning: Reasoning;
  readonly prefix: PrefixColumn;
  readonly "student-tokens": number;
  readonly "teacher-tokens": number;
  readonly ids: boolean;
  readonly json: boolean;
}

/** `palate prompts`: shows prompts, trains nothing. */
export const promptsCommand: CommandModule = {
  command: "prompts",
  describe: "Show what the model gets",
  builder: (yargs) => yargs.command(showSubcommand()).demandCommand(1, "Say what to do: show."),
  handler: () => undefined,
};

function showSubcommand(): CommandModule<object, ShowArguments> {
  return {
    command: "show <id>",
    describe: "Print the prompt of one question, exactly; on a terminal the demonstration is highlighted",
    builder: (yargs) =>
      yargs
        .positional("id", { type: "string", demandOption: true, describe: "Id of the question" })
        .option("questions", { type: "string", default: "bundled:control", describe: "Question set" })
        .option("model", { type: "string", demandOption: true, describe: "Folder with tokenizer.json" })
        .option("side", { choices: ["student", "teacher"] as const, default: "student" as const })
        .option("order", { choices: ORDERS, default: "published" as const })
        .option("template", { choices: TEACHER_TEMPLATE_NAMES, default: "worked-reply" as const })
        .option("reasoning", { choices: REASONING, default: "brief" as const })
        .option("prefix", { choices: PREFIX_COLUMNS, default: "prefix_text" as const })
        .option("student-tokens", {
          type: "number",
          default: 65_536,
          describe: "Limit of the student prompt",
        })
        .option("teacher-tokens", {
          type: "number",
          default: 66_560,
          describe: "Limit of the teacher prompt",
        })
        .option("ids", { type: "boolean", default: false, describe: "Print the token ids instead" })
        .option("json", { type: "boolean", default: false, describe: "Print text, ids and spans as JSON" }),
    handler: show,
  };
}

async function show(args: ArgumentsCamelCase<ShowArguments>): Promise<void> {
  const { loadTokenizer } = await import("../tokenizer/load.ts");
  const { buildPresentations } = await import("../prompts/presentations.ts");
  const { showPrompt } = await import("../prompts/show.ts");
  const [set, tokenizer] = await Promise.all([readSet(args.questions), loadTokenizer(args.model)]);
  const presentations = buildPresentations({
    question: findQuestion(set, args.id),
    reason: set.reasons.get(args.id),
    prefixColumn: args.prefix,
    teacherTemplate: args.template,
    reasoning: args.reasoning,
    tokenizer,
    limits: { studentTokens: args.studentTokens, teacherTokens: args.teacherTokens },
    templateArgs: {},
  });
  for (const presentation of presentations.filter(({ order }) => order === args.order)) {
    process.stdout.write(showPrompt(presentation, { side: args.side, form: formOf(args) }));
  }
}

function formOf({ ids, json }: Pick<ShowArguments, "ids" | "json">): ShowOptions["form"] {
  if (json) return "json";
  if (ids) return "ids";
  return process.stdout.isTTY ? "terminal" : "text";
}

function findQuestion(set: QuestionSet, id: string): QuestionSet["questions"][number] {
  const question = set.questions.find((candidate) => candidate.id === id);
  if (question !== undefined) return question;
  throw new DataError(`${set.source}: there is no question ${JSON.stringify(id)}.`, {
    nextStep: `Ids look like ${JSON.stringify(set.questions[0]?.id)}.`,
    facts: { source: set.source, id },
  });
}

async function readSet(source: string): Promise<QuestionSet> {
  const { readQuestions } = await import("../questions/read.ts");
  return readQuestions(source, { cacheDir: cacheFolder(), env: process.env });
}

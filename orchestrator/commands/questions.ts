import type { ArgumentsCamelCase, CommandModule } from "yargs";
import { cacheFolder } from "../cache-folder.ts";
import { DataError } from "../errors.ts";
import type { QuestionReport, TextLengths } from "../questions/check.ts";
import type { Question, QuestionSet } from "../questions/schema.ts";

interface SourceArguments {
  readonly source: string;
  readonly json: boolean;
}

interface ShowArguments extends SourceArguments {
  readonly id: string;
}

const SOURCE_HELP = "Release folder, .parquet, .jsonl, .jsonl.gz, hub:owner/name@revision or bundled:control";

/** `palate questions`: looks at question sets, trains nothing. */
export const questionsCommand: CommandModule = {
  command: "questions",
  describe: "Check and show question sets",
  builder: (yargs) =>
    yargs
      .command(checkSubcommand())
      .command(showSubcommand())
      .demandCommand(1, "Say what to do: check or show."),
  handler: () => undefined,
};

function checkSubcommand(): CommandModule<object, SourceArguments> {
  return {
    command: "check <source>",
    describe: "Validate a question set and count what is in it",
    builder: (yargs) =>
      yargs
        .positional("source", { type: "string", demandOption: true, describe: SOURCE_HELP })
        .option("json", { type: "boolean", default: false, describe: "Print the report as JSON" }),
    handler: check,
  };
}

function showSubcommand(): CommandModule<object, ShowArguments> {
  return {
    command: "show <source> <id>",
    describe: "Print one question",
    builder: (yargs) =>
      yargs
        .positional("source", { type: "string", demandOption: true, describe: SOURCE_HELP })
        .positional("id", { type: "string", demandOption: true, describe: "Id of the question" })
        .option("json", { type: "boolean", default: false, describe: "Print the row as JSON" }),
    handler: show,
  };
}

async function check({ source, json }: ArgumentsCamelCase<SourceArguments>): Promise<void> {
  const { checkQuestions } = await import("../questions/check.ts");
  const report = checkQuestions(await read(source));
  print(json ? JSON.stringify(report, null, 2) : reportText(report));
}

async function show({ source, id, json }: ArgumentsCamelCase<ShowArguments>): Promise<void> {
  const { questions, reasons } = await read(source);
  const question = questions.find((candidate) => candidate.id === id);
  if (question === undefined) {
    throw new DataError(`${source}: there is no question ${JSON.stringify(id)}.`, {
      nextStep: `Ids look like ${JSON.stringify(questions[0]?.id)}.`,
      facts: { source, id },
    });
  }
  print(json ? JSON.stringify(question, null, 2) : questionText(question, reasons.get(id)));
}

async function read(source: string): Promise<QuestionSet> {
  const { readQuestions } = await import("../questions/read.ts");
  const warn = (message: string) => void process.stderr.write(`warning: ${message}\n`);
  return readQuestions(source, {
    cacheDir: cacheFolder(),
    env: process.env,
    warn,
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function reportText(report: QuestionReport): string {
  const { lengths } = report;
  return [
    `source            ${report.source}`,
    `digest            ${report.digest}`,
    `canary            ${report.canary}`,
    `questions         ${report.questions} over ${report.tasks} tasks`,
    `reasons           ${report.reasons}`,
    ...Object.entries(report.domains).map(([domain, n]) => `${domain.padEnd(22)}${String(n).padStart(6)}`),
    ...Object.entries(report.cells).map(([cell, n]) => `  ${cell.padEnd(20)}${String(n).padStart(6)}`),
    `supported as A, B ${report.answers.A}, ${report.answers.B}`,
    `supported longer  ${(100 * report.longer_option_rate).toFixed(1)} %`,
    `${"characters".padEnd(18)}${["min", "median", "mean", "p95", "max"].map(padded).join("")}`,
    ...Object.entries(lengths).map(([column, row]) => lengthLine(column, row)),
    `warnings          ${report.warnings.length}`,
  ].join("\n");
}

function lengthLine(column: string, { min, median, mean, p95, max }: TextLengths): string {
  return (
    column.padEnd(18) + [min, median, mean, p95, max].map((length) => padded(length.toFixed(0))).join("")
  );
}

function padded(text: string): string {
  return text.padStart(9);
}

function questionText(question: Question, reason: string | undefined): string {
  const { id, cell, source, task_id, prefix_steps, query, prefix_text, choices, answer } = question;
  return [
    `${id}  ${cell}  ${source}  task ${task_id}  ${prefix_steps} steps`,
    `\nQuery\n${query}`,
    `\nPrefix\n${prefix_text}`,
    `\nCandidate A${answer === "A" ? " (supported)" : ""}\n${choices[0]}`,
    `\nCandidate B${answer === "B" ? " (supported)" : ""}\n${choices[1]}`,
    ...(reason === undefined ? [] : [`\nReason\n${reason}`]),
  ].join("\n");
}

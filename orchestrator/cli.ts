#!/usr/bin/env node
import yargs, { type CommandModule } from "yargs";
import { hideBin } from "yargs/helpers";
import { controlSubcommand } from "./commands/control.ts";
import { foldsCommand } from "./commands/folds.ts";
import { lineageCommand } from "./commands/lineage.ts";
import { modelCommand } from "./commands/model.ts";
import { planCommand } from "./commands/plan.ts";
import { promptsCommand } from "./commands/prompts.ts";
import { questionsCommand } from "./commands/questions.ts";
import { runCommand } from "./commands/run.ts";
import { showCommand } from "./commands/show.ts";
import { statusCommand } from "./commands/status.ts";
import { verifyCommand } from "./commands/verify.ts";
import { EXIT, PalateError, UsageError } from "./errors.ts";

const COMMANDS = [
  runCommand,
  planCommand,
  statusCommand,
  showCommand,
  lineageCommand,
  verifyCommand,
  questionsCommand,
  foldsCommand,
  promptsCommand,
  modelCommand,
  controlSubcommand,
] as CommandModule[];

async function main(): Promise<void> {
  const program = yargs(hideBin(process.argv))
    .scriptName("palate")
    .usage("$0 <command>\n\nTrain taste: which direction to take at a fork of agent work.")
    .command(COMMANDS)
    .demandCommand(1, "Name a command.")
    .recommendCommands()
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message, { nextStep: "palate --help lists commands and flags." });
    });
  await program.parseAsync();
}

function report(error: unknown): number {
  if (!(error instanceof PalateError)) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT.failed;
  }
  process.stderr.write(
    `palate: ${error.message}\n${error.nextStep === undefined ? "" : `  ${error.nextStep}\n`}`,
  );
  if (process.argv.includes("--json")) process.stderr.write(`${JSON.stringify(error.facts)}\n`);
  return error.exitCode;
}

await main().catch((error: unknown) => {
  process.exitCode = report(error);
});

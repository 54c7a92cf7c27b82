import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { ArgumentsCamelCase, CommandModule } from "yargs";
import { UsageError } from "../errors.ts";
import { controlFiles } from "../questions/control/files.ts";
import { jsonOption, print, printJson } from "./common.ts";

interface ControlArguments {
  readonly tasks: number;
  readonly "questions-per-task": number;
  readonly seed: number;
  readonly out: string;
  readonly json: boolean;
}

/** `palate control`: writes a set of control questions into a new folder. */
export const controlSubcommand: CommandModule<object, ControlArguments> = {
  command: "control",
  describe: "Write a set of control questions: easy to learn from the prefix, impossible from the candidates",
  builder: (yargs) =>
    yargs
      .option("tasks", {
        type: "number",
        default: 80,
        describe: "Made-up tasks; a multiple of 4 is balanced",
      })
      .option("questions-per-task", { type: "number", default: 4, describe: "Even number" })
      .option("seed", { type: "number", default: 0, describe: "Same seed, same bytes" })
      .option("out", { type: "string", demandOption: true, describe: "Folder to create" })
      .options(jsonOption),
  handler: writeControl,
};

async function writeControl(args: ArgumentsCamelCase<ControlArguments>): Promise<void> {
  const { tasks, questionsPerTask, seed, out, json } = args;
  const files = controlFiles({ seed, tasks, questionsPerTask });
  await writeNewFolder(resolve(out), files);
  const questions = tasks * questionsPerTask;
  if (json) return printJson({ folder: resolve(out), questions, tasks, seed });
  print(`${questions} control questions over ${tasks} tasks: ${out}`);
}

/** All files or none: they are written beside the folder and take its name at the end. */
async function writeNewFolder(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  if (existsSync(folder)) {
    throw new UsageError(`${folder} exists already.`, {
      nextStep: "Name a folder that does not exist, or remove this one first.",
      facts: { folder },
    });
  }
  const staging = join(dirname(folder), `.${basename(folder)}.partial-${process.pid}`);
  await mkdir(staging, { recursive: true });
  try {
    await Promise.all([...files].map(([name, text]) => writeFile(join(staging, name), text)));
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

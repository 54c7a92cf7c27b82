import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Argv, CommandModule } from "yargs";
import { RunError } from "../errors.ts";
import { checkpointsOption, jsonOption, print, printJson } from "./common.ts";

function builder(yargs: Argv) {
  return yargs
    .positional("run", { type: "string", default: "latest", describe: "Name of a run, or latest" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type ShowArguments = Awaited<ReturnType<typeof builder>["argv"]>;

export const showCommand: CommandModule<object, ShowArguments> = {
  command: "show [run]",
  describe: "The result of a finished run",
  builder,
  async handler({ run: name, checkpoints, json }) {
    const { readRun, runFolder } = await import("../runs/run-file.ts");
    const { runSummarySchema } = await import("../scoring/run-summary.ts");
    const { renderRunTable } = await import("../report/table.ts");
    const run = await readRun(checkpoints, name);
    const folder = runFolder(checkpoints, run.name);
    const text = await readFile(join(folder, "summary.json"), "utf8").catch((cause: unknown) => {
      throw new RunError(`Run ${run.name} has no result yet: it is ${run.status}.`, {
        nextStep: `palate run ${run.recipe_name} goes on with it.`,
        facts: { run: run.name, status: run.status },
        cause,
      });
    });
    const summary = runSummarySchema.parse(JSON.parse(text));
    if (json) return printJson({ name: run.name, folder, ...summary });
    print(renderRunTable(summary));
    print(`\nrun: ${folder}`);
  },
};

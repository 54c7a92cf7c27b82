import type { Argv, CommandModule } from "yargs";
import { UsageError } from "../errors.ts";
import { checkpointsOption, jsonOption, print, printJson, stopSignals, wholeNumber } from "./common.ts";

function builder(yargs: Argv) {
  return yargs
    .positional("recipe", {
      type: "string",
      demandOption: true,
      describe: "Name in recipes/, or a YAML file",
    })
    .option("fold", { type: "number", describe: "Run this fold only" })
    .option("name", { type: "string", describe: "Name of the run (default: recipe and a digest)" })
    .option("minutes", { type: "number", describe: "Save and stop after this time" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type RunArguments = Awaited<ReturnType<typeof builder>["argv"]>;

export const runCommand: CommandModule<object, RunArguments> = {
  command: "run <recipe>",
  describe: "Questions, folds, teacher, distil, calibrate, held-out score; goes on where it stopped",
  builder,
  async handler({ recipe, fold, name, minutes, checkpoints, json }) {
    const { loadRecipe } = await import("../recipe-file.ts");
    const { runRecipe } = await import("../stages/run.ts");
    const { createProgress } = await import("../report/progress.ts");
    const { renderRunTable } = await import("../report/table.ts");
    const loaded = await loadRecipe(recipe);
    const foldNumber = wholeNumber("fold", fold);
    const limit = wholeNumber("minutes", minutes);
    const progress = createProgress(process.stderr);
    const signals = stopSignals();
    try {
      const finished = await runRecipe({
        loaded,
        checkpoints,
        ...(name !== undefined && { name: runName(name) }),
        ...(limit !== undefined && { limitSeconds: limit * 60 }),
        ...(foldNumber !== undefined && { fold: foldNumber }),
        say: progress.say,
        onPlan(stages, pending) {
          const done = stages.length - pending.length;
          progress.plan({
            labels: new Map(stages.map(({ task }) => [task.key, task.label])),
            total: stages.length,
            done,
          });
          progress.say(
            `stages: ${stages.length}, of which ${done} done before and ${pending.length} to compute`,
          );
        },
        onEvent: progress.event,
        stop: signals.stop,
        kill: signals.kill,
      });
      progress.end();
      if (json) return printJson({ name: finished.name, folder: finished.folder, ...finished.summary });
      print(renderRunTable(finished.summary));
      print(`\nrun: ${finished.folder}`);
    } finally {
      progress.end();
      signals.dispose();
    }
  },
};

/** The name is a folder. */
function runName(name: string): string {
  if (/^[\w][\w.-]*$/.test(name) && name !== "latest") return name;
  throw new UsageError(`--name ${JSON.stringify(name)} cannot be the name of a run.`, {
    nextStep: "Use letters, digits, dots, dashes and underscores; not 'latest'.",
    facts: { name },
  });
}

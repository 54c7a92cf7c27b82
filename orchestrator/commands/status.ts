import type { Argv, CommandModule } from "yargs";
import { checkpointsOption, jsonOption, print, printJson } from "./common.ts";

function builder(yargs: Argv) {
  return yargs
    .positional("run", { type: "string", describe: "Name of a run, or latest; left out: all runs" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type StatusArguments = Awaited<ReturnType<typeof builder>["argv"]>;

export const statusCommand: CommandModule<object, StatusArguments> = {
  command: "status [run]",
  describe: "Runs and how far they are; with a name, each stage",
  builder,
  async handler({ run, checkpoints, json }) {
    const { listStatus, runStatus } = await import("../stages/status.ts");
    if (run === undefined) {
      const runs = await listStatus(checkpoints);
      if (json) return printJson({ runs });
      print(
        runs.map((each) => `${each.status.padEnd(10)} ${each.done}/${each.stages} ${each.name}`).join("\n") ||
          "no runs",
      );
      return;
    }
    const status = await runStatus(checkpoints, run);
    if (json) return printJson(status);
    print(`${status.name}: ${status.status}, ${status.seconds.toFixed(0)} s`);
    if (status.message !== null) print(status.message);
    print(
      status.stages
        .map((each) => `  ${each.state.padEnd(8)} ${each.label} (${each.key.slice(0, 12)})`)
        .join("\n"),
    );
  },
};

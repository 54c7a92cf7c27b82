import type { Argv, CommandModule } from "yargs";
import { RunError } from "../errors.ts";
import { checkpointsOption, jsonOption, print, printJson } from "./common.ts";

function builder(yargs: Argv) {
  return yargs
    .positional("run", { type: "string", default: "latest", describe: "Name of a run, or latest" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type VerifyArguments = Awaited<ReturnType<typeof builder>["argv"]>;

export const verifyCommand: CommandModule<object, VerifyArguments> = {
  command: "verify [run]",
  describe: "Recompute every hash of a run",
  builder,
  async handler({ run, checkpoints, json }) {
    const { verifyRun } = await import("../stages/verify.ts");
    const report = await verifyRun(checkpoints, run);
    if (json) printJson(report);
    else print(`${report.run}: ${report.stages} stages, ${report.files} files checked`);
    if (report.faults.length === 0) return;
    throw new RunError(
      `${report.faults.length} faults:\n${report.faults.map((fault) => `  ${fault}`).join("\n")}`,
      {
        nextStep: "Remove the stage folders named; they are then computed again.",
        facts: { faults: report.faults },
      },
    );
  },
};

import type { Argv, CommandModule } from "yargs";
import { checkpointsOption, jsonOption, print, printJson } from "./common.ts";

function builder(yargs: Argv) {
  return yargs
    .positional("run", { type: "string", default: "latest", describe: "Name of a run, or latest" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type LineageArguments = Awaited<ReturnType<typeof builder>["argv"]>;

export const lineageCommand: CommandModule<object, LineageArguments> = {
  command: "lineage [run]",
  describe: "What each adapter of a run came from",
  builder,
  async handler({ run: name, checkpoints, json }) {
    const { readRun } = await import("../runs/run-file.ts");
    const { stageFolder } = await import("../runs/stage-store.ts");
    const { readLineage } = await import("../runs/lineage-file.ts");
    const run = await readRun(checkpoints, name);
    const adapters = run.stages.filter(({ stage }) => stage === "distil" || stage === "calibrate");
    const lineages = await Promise.all(
      adapters.map(({ stage, key }) => readLineage(stageFolder(checkpoints, stage, key))),
    );
    if (json) return printJson({ run: run.name, adapters: lineages });
    for (const lineage of lineages) {
      print(`fold ${lineage.fold}: ${lineage.stage} ${lineage.key.slice(0, 12)}`);
      print(`  base     ${lineage.base.source} ${lineage.base.digest.slice(0, 24)}`);
      print(`  data     ${lineage.data_digest.slice(0, 12)}, split ${lineage.split_digest.slice(0, 12)}`);
      print(`  trained  ${lineage.question_ids.length} questions, seed ${lineage.seed}`);
      print(
        `  parents  ${lineage.parents.map(({ stage, key }) => `${stage} ${key.slice(0, 12)}`).join(", ")}`,
      );
      print(`  weights  ${lineage.files["adapter_model.safetensors"]?.slice(0, 24)}`);
    }
  },
};

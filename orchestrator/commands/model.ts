import type { Argv, CommandModule } from "yargs";
import { checkpointsOption, jsonOption, print, printJson } from "./common.ts";

function builder(yargs: Argv) {
  return yargs
    .positional("source", {
      type: "string",
      demandOption: true,
      describe: "bundled:smollm2-135m-instruct, a Hugging Face id, or a local folder",
    })
    .option("revision", { type: "string", describe: "Branch, tag or commit on the hub" })
    .options({ ...checkpointsOption, ...jsonOption });
}
type ModelArguments = Awaited<ReturnType<typeof builder>["argv"]>;

export const modelCommand: CommandModule<object, ModelArguments> = {
  command: "model <source>",
  describe: "Fetch or convert a base model, and say where it is",
  builder,
  async handler({ source, revision, checkpoints, json }) {
    const { cacheFolder } = await import("../cache-folder.ts");
    const { resolveModel } = await import("../stages/resolve-model.ts");
    const model = await resolveModel({
      source,
      revision: revision ?? null,
      cacheDir: cacheFolder(),
      checkpoints,
      tokenizerOnly: false,
    });
    if (json) return printJson(model);
    print(`${model.path}\n${model.architecture}, digest ${model.digest}`);
  },
};

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Architecture, parseArchitecture } from "../cost/architecture.ts";
import type { CostSetting } from "../cost/estimate.ts";
import { knownConfig } from "../cost/known-models.ts";
import { DataError } from "../errors.ts";
import type { Recipe } from "../recipe.ts";
import { describeAccelerator } from "./this-machine.ts";

/** What `palate plan` assumes of the machine, apart from the recipe. */
export interface MachineChoice {
  /** A name of the accelerator table; default: an A100-80GB for a recipe on cuda, else this processor. */
  readonly accelerator?: string;
  /** Gated DeltaNet runs in the kernels of flash-linear-attention. */
  readonly fusedKernels: boolean;
}

export interface KnownArchitecture {
  readonly architecture: Architecture;
  /** Where the sizes were read. */
  readonly source: string;
}

/** The sequences of a question go through the model one by one: palate_bridge/positions.py, decode.py. */
const COMPUTED_AS = "sequences";

export async function costSetting(
  recipe: Recipe,
  { architecture, machine }: { architecture: Architecture; machine: MachineChoice },
): Promise<CostSetting> {
  const name = machine.accelerator ?? (recipe.execution.device === "cuda" ? "a100-80gb" : "cpu");
  const { lora, loss } = recipe.distil;
  return {
    architecture,
    accelerator: await describeAccelerator(name),
    dtype: recipe.model.dtype,
    adapter: { rank: lora.rank, targets: lora.targets },
    adapterInputs: "float32",
    deltaCode: machine.fusedKernels ? "fused" : "torch",
    checkpointing: recipe.execution.gradient_checkpointing,
    offload: false,
    chunkPositions: loss.chunk_positions,
    direction: loss.direction,
    form: COMPUTED_AS,
  };
}

/** From the model's own config.json; no weights are read. */
export async function architectureIn(folder: string): Promise<KnownArchitecture> {
  const file = join(folder, "config.json");
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new DataError(`${file} cannot be read.`, { facts: { file }, cause });
  });
  return { architecture: parseArchitecture(JSON.parse(text), file), source: file };
}

/** Of a model whose sizes Palate knows without any file of it; `undefined` for others. */
export function publishedArchitecture(model: string): KnownArchitecture | undefined {
  const known = knownConfig(model);
  if (known === undefined) return undefined;
  return { architecture: parseArchitecture(known.config, known.source), source: known.source };
}

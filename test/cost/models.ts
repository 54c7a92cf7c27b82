import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type Architecture, parseArchitecture } from "../../orchestrator/cost/architecture.ts";
import { knownConfig } from "../../orchestrator/cost/known-models.ts";

export const GIB = 1024 ** 3;

export function qwen27b(): Architecture {
  return parseArchitecture(knownConfig("Qwen/Qwen3.6-27B")?.config, "known");
}

const rowSchema = z.object({
  name: z.string(),
  dtype: z.enum(["float32", "bfloat16"]),
  config: z.looseObject({ kind: z.string().optional() }),
  rank: z.number(),
  saved_a_layer: z.number(),
  checkpointed_peak_of_two_layers: z.number(),
  forward_peak: z.number(),
  forward_peak_with_adapter: z.number(),
});
const fileSchema = z.object({
  bytes_a_token: z.array(rowSchema),
  loss_copies: z.object({ forward: z.number(), reverse: z.number(), jensen_shannon: z.number() }),
});

/** What python-bridge/tests/test_activation_memory.py measured, and measures again. */
export function measured(): z.infer<typeof fileSchema> {
  const file = fileURLToPath(new URL("../fixtures/cost/activations.json", import.meta.url));
  return fileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** The architecture of a measured row, with two layers of its kind. */
export function measuredArchitecture(config: z.infer<typeof rowSchema>["config"]): Architecture {
  const layer_types = config.kind === undefined ? undefined : [config.kind, config.kind];
  return parseArchitecture({ ...config, num_hidden_layers: 2, layer_types }, "measured");
}

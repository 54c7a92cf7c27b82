import { open } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { cacheFolder } from "../../orchestrator/cache-folder.ts";
import { countParameters, parseArchitecture } from "../../orchestrator/cost/architecture.ts";
import { DataError } from "../../orchestrator/errors.ts";
import { architectureIn } from "../../orchestrator/stages/cost-setting.ts";
import { resolveModel } from "../../orchestrator/stages/resolve-model.ts";
import { emptyCheckpoints } from "../stages/tiny-recipe.ts";

/** The header of a safetensors file: 8 bytes of length, then JSON with each tensor's shape. */
async function weightsIn(folder: string): Promise<number> {
  const file = await open(join(folder, "model.safetensors"));
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    const size = Number(buffer.readBigUInt64LE());
    const header = await file.read(Buffer.alloc(size), 0, size, 8);
    const tensors: Record<string, { shape?: number[] }> = JSON.parse(header.buffer.toString("utf8"));
    const shapes = Object.values(tensors).flatMap(({ shape }) => (shape === undefined ? [] : [shape]));
    return shapes.reduce((total, shape) => total + shape.reduce((product, side) => product * side, 1), 0);
  } finally {
    await file.close();
  }
}

let checkpoints: string;

beforeAll(async () => {
  checkpoints = await emptyCheckpoints();
});

async function folderOf(source: string): Promise<string> {
  const place = { revision: null, cacheDir: cacheFolder(), checkpoints };
  return (await resolveModel({ source, ...place, tokenizerOnly: true })).path;
}

const SMOLLM2 = {
  model_type: "llama",
  hidden_size: 576,
  intermediate_size: 1536,
  num_hidden_layers: 30,
  num_attention_heads: 9,
  num_key_value_heads: 3,
  vocab_size: 49_152,
  tie_word_embeddings: true,
};

describe("parameters counted from config.json", () => {
  it.each(["tiny:llama", "tiny:qwen3_5"])("of %s are those that its weight file holds", async (source) => {
    const folder = await folderOf(source);
    const { architecture } = await architectureIn(folder);
    expect(countParameters(architecture)).toBe(await weightsIn(folder));
  });

  it("of SmolLM2-135M are 134,515,008, tied embeddings once", () => {
    expect(countParameters(parseArchitecture(SMOLLM2, "smollm2"))).toBe(134_515_008);
  });

  it("grow by one vocabulary matrix when embeddings are not tied", () => {
    const untied = parseArchitecture({ ...SMOLLM2, tie_word_embeddings: false }, "smollm2");
    expect(countParameters(untied)).toBe(134_515_008 + 49_152 * 576);
  });

  it("count the biases of Qwen2 and the head norms of Qwen3", () => {
    const qwen2 = parseArchitecture({ ...SMOLLM2, model_type: "qwen2" }, "qwen2");
    expect(countParameters(qwen2)).toBe(134_515_008 + 30 * (576 + 2 * 192));
    const qwen3 = parseArchitecture({ ...SMOLLM2, model_type: "qwen3" }, "qwen3");
    expect(countParameters(qwen3)).toBe(134_515_008 + 30 * 2 * 64);
  });

  it("read the text part of a vision model, and its layers by kind", () => {
    const text = { ...SMOLLM2, model_type: "qwen3_5_text", num_hidden_layers: 8, full_attention_interval: 4 };
    const { layers } = parseArchitecture({ model_type: "qwen3_5", text_config: text }, "wrapper");
    expect(layers.map(({ kind, count }) => [kind, count])).toEqual([
      ["full_attention", 2],
      ["linear_attention", 6],
    ]);
  });

  it("are refused for an architecture that the model does not know, with the file's name", () => {
    expect(() => parseArchitecture({ ...SMOLLM2, model_type: "gpt2" }, "x/config.json")).toThrow(DataError);
    expect(() => parseArchitecture({ ...SMOLLM2, hidden_size: 0 }, "x/config.json")).toThrow(
      /x\/config.json/,
    );
  });
});

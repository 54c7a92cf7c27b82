import { z } from "zod";
import { DataError } from "../errors.ts";
import { attentionLayer, linearLayer } from "./layers.ts";

/** A matrix that a token is multiplied with; `name` is what an adapter calls it. */
export interface Linear {
  readonly name: string;
  readonly inputs: number;
  readonly outputs: number;
  readonly bias: boolean;
}

/** All decoder layers of one kind. */
export interface LayerGroup {
  readonly kind: "full_attention" | "linear_attention";
  readonly count: number;
  readonly linears: readonly Linear[];
  /** Parameters of one layer outside its linear modules: norms, convolution, decays. */
  readonly others: number;
}

/** Heads of Gated DeltaNet layers (Yang et al. 2024, arXiv 2412.06464). */
export interface GatedDelta {
  readonly keyHeads: number;
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  readonly kernel: number;
}

/** What cost depends on. Text decoder only: vision tower and multi-token heads are dropped on load. */
export interface Architecture {
  readonly modelType: string;
  readonly hidden: number;
  readonly ffn: number;
  readonly vocab: number;
  readonly tied: boolean;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** q_proj also makes a gate for the attention's output. */
  readonly gated: boolean;
  /** Queries and keys pass a norm of their own. */
  readonly headNorms: boolean;
  readonly delta: GatedDelta | null;
  readonly layers: readonly LayerGroup[];
}

const size = z.int().min(1);
const decoderSchema = z.object({
  model_type: z.enum(["llama", "mistral", "qwen2", "qwen3", "qwen3_5_text"]),
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  vocab_size: size,
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  layer_types: z.array(z.string()).nullish(),
  full_attention_interval: size.nullish(),
  linear_num_key_heads: size.default(16),
  linear_num_value_heads: size.default(32),
  linear_key_head_dim: size.default(128),
  linear_value_head_dim: size.default(128),
  linear_conv_kernel_dim: size.default(4),
});
export type DecoderConfig = z.infer<typeof decoderSchema>;

const wrapperSchema = z.object({
  text_config: z.record(z.string(), z.unknown()).optional(),
  tie_word_embeddings: z.boolean().optional(),
});

/**
 * Reads config.json as transformers writes it; a wrapper's `text_config` stands for the whole.
 * @throws DataError naming file and field for other architectures and for a config that lacks a size.
 */
export function parseArchitecture(config: unknown, file: string): Architecture {
  const wrapper = wrapperSchema.safeParse(config).data;
  const tied = wrapper?.tie_word_embeddings;
  const decoder = wrapper?.text_config ?? config;
  const parsed = decoderSchema.safeParse(decoder);
  if (parsed.success) return normalForm({ tie_word_embeddings: tied, ...parsed.data });
  throw new DataError(`${file}: no cost can be computed: ${z.prettifyError(parsed.error)}`, {
    nextStep: "The cost model knows Llama, Mistral, Qwen2, Qwen3 and Qwen3.5-type decoders.",
    facts: { file },
  });
}

/** All weights that are loaded, tied ones once. */
export function countParameters(architecture: Architecture): number {
  const { hidden, vocab, tied } = architecture;
  const decoder = sum(architecture.layers, (group) => group.count * layerParameters(group));
  return decoder + hidden * vocab * (tied ? 1 : 2) + hidden;
}

/** Weights that multiply each token: all linear modules of the decoder layers. */
export function matrixParameters({ layers }: Architecture): number {
  return sum(layers, ({ count, linears }) => count * sum(linears, ({ inputs, outputs }) => inputs * outputs));
}

export function layerCount({ layers }: Architecture): number {
  return sum(layers, ({ count }) => count);
}

export function countOf({ layers }: Architecture, kind: LayerGroup["kind"]): number {
  return layers.find((group) => group.kind === kind)?.count ?? 0;
}

export function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function layerParameters({ linears, others }: LayerGroup): number {
  return others + sum(linears, ({ inputs, outputs, bias }) => inputs * outputs + (bias ? outputs : 0));
}

function normalForm(config: DecoderConfig): Architecture {
  const heads = config.num_attention_heads;
  const linearLayers = countLinearLayers(config);
  const sizes = {
    modelType: config.model_type,
    hidden: config.hidden_size,
    ffn: config.intermediate_size,
    vocab: config.vocab_size,
    tied: config.tie_word_embeddings ?? false,
    heads,
    kvHeads: config.num_key_value_heads ?? heads,
    headDim: config.head_dim ?? config.hidden_size / heads,
    gated: config.model_type === "qwen3_5_text",
    headNorms: config.model_type === "qwen3" || config.model_type === "qwen3_5_text",
    delta: linearLayers === 0 ? null : deltaOf(config),
  };
  const groups = [
    attentionLayer(sizes, { config, count: config.num_hidden_layers - linearLayers }),
    ...(sizes.delta === null
      ? []
      : [linearLayer(sizes, { delta: sizes.delta, config, count: linearLayers })]),
  ];
  return { ...sizes, layers: groups.filter(({ count }) => count > 0) };
}

function deltaOf(config: DecoderConfig): GatedDelta {
  return {
    keyHeads: config.linear_num_key_heads,
    valueHeads: config.linear_num_value_heads,
    keyDim: config.linear_key_head_dim,
    valueDim: config.linear_value_head_dim,
    kernel: config.linear_conv_kernel_dim,
  };
}

function countLinearLayers(config: DecoderConfig): number {
  if (config.model_type !== "qwen3_5_text") return 0;
  const named = config.layer_types?.filter((kind) => kind === "linear_attention").length;
  const full = Math.floor(config.num_hidden_layers / (config.full_attention_interval ?? 4));
  return named ?? config.num_hidden_layers - full;
}

import type { Architecture, DecoderConfig, GatedDelta, LayerGroup, Linear } from "./architecture.ts";

type Sizes = Omit<Architecture, "layers">;

/** Softmax attention and MLP: the layers of Llama and Qwen, and every fourth one of Qwen3.5. */
export function attentionLayer(
  sizes: Sizes,
  { config, count }: { config: DecoderConfig; count: number },
): LayerGroup {
  const { hidden, headDim, gated, headNorms } = sizes;
  const queries = sizes.heads * headDim;
  const keys = sizes.kvHeads * headDim;
  const outputBias = config.attention_bias ?? false;
  const inputBias = config.model_type === "qwen2" || outputBias;
  const linears = [
    { name: "q_proj", inputs: hidden, outputs: queries * (gated ? 2 : 1), bias: inputBias },
    { name: "k_proj", inputs: hidden, outputs: keys, bias: inputBias },
    { name: "v_proj", inputs: hidden, outputs: keys, bias: inputBias },
    { name: "o_proj", inputs: queries, outputs: hidden, bias: outputBias },
    ...mlp(sizes, config),
  ];
  const others = 2 * hidden + (headNorms ? 2 * headDim : 0);
  return { kind: "full_attention", count, linears, others };
}

/** Gated DeltaNet and MLP, with the module names of transformers' Qwen3.5. */
export function linearLayer(
  sizes: Sizes,
  { delta, config, count }: { delta: GatedDelta; config: DecoderConfig; count: number },
): LayerGroup {
  const { hidden } = sizes;
  const { valueHeads, valueDim, kernel } = delta;
  const values = valueHeads * valueDim;
  const convolved = convolvedChannels(delta);
  const linears = [
    { name: "in_proj_qkv", inputs: hidden, outputs: convolved, bias: false },
    { name: "in_proj_z", inputs: hidden, outputs: values, bias: false },
    { name: "in_proj_b", inputs: hidden, outputs: valueHeads, bias: false },
    { name: "in_proj_a", inputs: hidden, outputs: valueHeads, bias: false },
    { name: "out_proj", inputs: values, outputs: hidden, bias: false },
    ...mlp(sizes, config),
  ];
  // Two layer norms, the convolution, A_log and dt_bias a head, and the norm of the gated output.
  const others = 2 * hidden + convolved * kernel + 2 * valueHeads + valueDim;
  return { kind: "linear_attention", count, linears, others };
}

/** Queries, keys and values of one token side by side. */
export function convolvedChannels({ keyHeads, keyDim, valueHeads, valueDim }: GatedDelta): number {
  return 2 * keyHeads * keyDim + valueHeads * valueDim;
}

function mlp({ hidden, ffn }: Sizes, config: DecoderConfig): Linear[] {
  const bias = config.mlp_bias ?? false;
  return [
    { name: "gate_proj", inputs: hidden, outputs: ffn, bias },
    { name: "up_proj", inputs: hidden, outputs: ffn, bias },
    { name: "down_proj", inputs: ffn, outputs: hidden, bias },
  ];
}

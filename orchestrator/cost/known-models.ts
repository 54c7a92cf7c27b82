/** config.json of models whose cost is asked before anything of them is on this machine. */
const CONFIGS: ReadonlyMap<string, { readonly source: string; readonly config: unknown }> = new Map([
  [
    "Qwen/Qwen3.6-27B",
    {
      source: "config.json of the model card of Qwen/Qwen3.6-27B, text_config, read 2026-11-30",
      config: {
        model_type: "qwen3_5",
        tie_word_embeddings: false,
        text_config: {
          model_type: "qwen3_5_text",
          hidden_size: 5120,
          intermediate_size: 17_408,
          num_hidden_layers: 64,
          full_attention_interval: 4,
          num_attention_heads: 24,
          num_key_value_heads: 4,
          head_dim: 256,
          linear_num_key_heads: 16,
          linear_num_value_heads: 48,
          linear_key_head_dim: 128,
          linear_value_head_dim: 128,
          linear_conv_kernel_dim: 4,
          vocab_size: 248_320,
        },
      },
    },
  ],
]);

/** The published config of a hub model, with where it was read; `undefined` for models not listed. */
export function knownConfig(
  model: string,
): { readonly source: string; readonly config: unknown } | undefined {
  return CONFIGS.get(model);
}

import { z } from "zod";

const eosSchema = z.union([z.int(), z.array(z.int())]).nullish();
const namedToken = z.union([z.string(), z.looseObject({ content: z.string() })]).nullish();
const namedTemplates = z.array(z.looseObject({ name: z.string(), template: z.string() }));

/** tokenizer.json as @huggingface/tokenizers takes it; what only that library reads passes through. */
export const tokenizerFileSchema = z.looseObject({
  added_tokens: z.array(
    z.looseObject({ id: z.int(), content: z.string().min(1), special: z.boolean().default(false) }),
  ),
  model: z.looseObject({ type: z.string().optional() }),
  normalizer: z.unknown(),
  pre_tokenizer: z.unknown(),
  post_processor: z.unknown(),
  decoder: z.unknown(),
});
export type TokenizerFile = z.infer<typeof tokenizerFileSchema>;

export const configSchema = z.looseObject({
  chat_template: z.union([z.string(), namedTemplates]).nullish(),
  bos_token: namedToken,
  eos_token: namedToken,
  unk_token: namedToken,
  pad_token: namedToken,
});
export type TokenizerConfig = z.infer<typeof configSchema>;

/** The part of generation_config.json and config.json that is read; sampling fields are never inherited. */
export const generationSchema = z.looseObject({
  eos_token_id: eosSchema,
  text_config: z.looseObject({ eos_token_id: eosSchema }).nullish(),
});

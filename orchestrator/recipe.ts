import { z } from "zod";
import {
  calibrateLossSchema,
  decodeSchema,
  distilLossSchema,
  gateSchema,
  loraSchema,
  optimizerSchema,
} from "./bridge/protocol.ts";

/*
 * A recipe says what is computed, never where: every field outside `execution` is part of the identity of the
 * stages it touches. What a recipe leaves out takes the default written here; what it writes is a deviation.
 */

const decode = decodeSchema.shape;
const optimizer = optimizerSchema.shape;
const distilLoss = distilLossSchema.shape;

const samplingSchema = z.strictObject({
  temperature: decode.temperature.default(0).describe("0 = greedy"),
  top_p: decode.top_p.default(1),
  top_k: decode.top_k.default(0).describe("0 = no limit"),
  min_p: decode.min_p.default(0),
  repetition_penalty: decode.repetition_penalty.default(1),
});

const trainingSchema = z.strictObject({
  epochs: optimizer.epochs.default(1),
  questions_per_step: optimizer.questions_per_step.default(8),
  learning_rate: optimizer.learning_rate.default(2e-4),
  schedule: optimizer.schedule.default("cosine"),
  warmup_ratio: optimizer.warmup_ratio.default(0.1),
  weight_decay: optimizer.weight_decay.default(0),
  betas: optimizer.betas.default([0.9, 0.999]),
  max_grad_norm: optimizer.max_grad_norm.default(1),
  max_steps: optimizer.max_steps.default(null),
});

const modelSchema = z.strictObject({
  source: z
    .string()
    .min(1)
    .describe(
      "bundled:smollm2-135m-instruct, a Hugging Face id, a local folder, or tiny:llama / tiny:qwen3_5",
    ),
  revision: z.string().min(1).nullable().default(null),
  dtype: z.enum(["float32", "bfloat16"]).default("float32"),
});

const questionsSchema = z.strictObject({
  source: z
    .string()
    .min(1)
    .describe("bundled:control, a release folder, a .parquet or .jsonl file, or hub:owner/name@revision"),
  prefix: z.enum(["prefix_text", "prefix_text_short"]).default("prefix_text"),
  max_tasks: z.int().min(2).nullable().default(null).describe("Take this many tasks, chosen by the seed"),
  domain: z.enum(["engineering", "research"]).nullable().default(null).describe("Take one domain only"),
});

const splitSchema = z.strictObject({
  k: z.int().min(2).default(2),
  seed: z.int().min(0).default(0),
  near_duplicate: z
    .number()
    .gt(0)
    .max(1)
    .default(0.8)
    .describe("Jaccard of word 13-grams that joins two tasks"),
  manifest: z
    .string()
    .nullable()
    .default(null)
    .describe("A committed manifest to use instead of building one"),
  folds: z.array(z.int().min(0)).min(1).nullable().default(null).describe("Folds to run; null = all"),
});

export const TEACHER_TEMPLATE_NAMES = [
  "direction-note",
  "worked-reply",
  "prior-turn",
  "stated-answer",
] as const;

const promptsSchema = z.strictObject({
  teacher_template: z.enum(TEACHER_TEMPLATE_NAMES).default("worked-reply"),
  reasoning: z.enum(["brief", "none"]).default("brief"),
  student_tokens: z.int().min(1).default(65_536),
  teacher_tokens: z.int().min(1).default(66_560),
  chat_template_args: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
});

const replySchema = z.strictObject({
  max_reasoning_tokens: decode.max_reasoning_tokens.default(1200),
  choice: decode.choice.default("vocabulary"),
});

const generateSchema = z.strictObject({
  traces: z.int().min(1).default(1).describe("Traces a presentation"),
  sampling: samplingSchema.prefault({}),
  gate: z.strictObject({ max_copied_tokens: gateSchema.shape.max_copied_tokens.default(13) }).prefault({}),
});

const distilSchema = z.strictObject({
  lora: z
    .strictObject({
      rank: loraSchema.shape.rank.default(16),
      alpha: loraSchema.shape.alpha.default(32),
      targets: loraSchema.shape.targets.default("auto"),
    })
    .prefault({}),
  loss: z
    .strictObject({
      direction: distilLoss.direction.default("forward"),
      choice_position: distilLoss.choice_position.default("vocabulary"),
      temperature: distilLoss.temperature.default(1),
      chunk_positions: distilLoss.chunk_positions.default(256),
    })
    .prefault({}),
  optimizer: trainingSchema.prefault({}),
});

const calibrateSchema = z.strictObject({
  traces: z.int().min(1).default(1).describe("Own traces a presentation"),
  sampling: samplingSchema.prefault({}),
  loss: z
    .strictObject({ choice_position: calibrateLossSchema.shape.choice_position.default("vocabulary") })
    .prefault({}),
  optimizer: trainingSchema.prefault({}),
});

const executionSchema = z.strictObject({
  device: z.enum(["auto", "cpu", "cuda"]).default("auto"),
  threads: z.int().min(1).nullable().default(null),
  checkpoint_every_steps: z.int().min(1).default(10),
  form: z
    .enum(["shared", "reference"])
    .default("reference")
    .describe("shared = what a question's sequences share is computed once; else each one whole"),
  gradient_checkpointing: z.boolean().default(false).describe("recompute each layer in the backward pass"),
  offload_activations: z.boolean().default(false).describe("keep activations in host memory"),
});

export const recipeSchema = z.strictObject({
  model: modelSchema,
  questions: questionsSchema,
  split: splitSchema.prefault({}),
  prompts: promptsSchema.prefault({}),
  reply: replySchema.prefault({}),
  generate: generateSchema.prefault({}),
  distil: distilSchema.prefault({}),
  calibrate: calibrateSchema.nullable().prefault({}).describe("null = no calibration pass"),
  score: z.strictObject({ sampling: samplingSchema.prefault({}) }).prefault({}),
  seed: z.int().min(0).default(0),
  execution: executionSchema.prefault({}).describe("How it is run; never part of an identity"),
});

/** A recipe with every field filled in. */
export type Recipe = z.infer<typeof recipeSchema>;
/** A recipe as people write it. */
export type RecipeInput = z.input<typeof recipeSchema>;

/** The schema for editors, as recipes/schema.json holds it: what may be written, before defaults. */
export function recipeJsonSchema(): unknown {
  return z.toJSONSchema(recipeSchema, { io: "input" });
}

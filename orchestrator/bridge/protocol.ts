import { z } from "zod";

/** Raised together with palate_bridge/protocol.py; test/fixtures/protocol holds the lines both sides read. */
export const PROTOCOL_VERSION = 1;

/** Exit codes of the Python job; every other code, or a signal, is a failure. */
export const JOB_EXIT = {
  done: 0,
  checkpointed: 75,
  fenced: 76,
  outOfAcceleratorMemory: 77,
  badInput: 78,
  nonFiniteLoss: 79,
} as const;

const count = z.int().min(0);
const hex = z.string().regex(/^[0-9a-f]{64}$/);

/** How a reply is written: every field explicit, nothing taken from generation_config.json. */
export const decodeSchema = z.strictObject({
  /** Reasoning tokens before the answer line is forced; 0 = the choice alone. */
  max_reasoning_tokens: count,
  /** The token at a forced choice: the likelier of the two letters, or whatever the vocabulary gives. */
  choice: z.enum(["letters", "vocabulary"]),
  /** 0 = greedy. */
  temperature: z.number().min(0),
  top_p: z.number().gt(0).max(1),
  top_k: count,
  min_p: z.number().min(0).max(1),
  repetition_penalty: z.number().gt(0),
});
export type Decode = z.infer<typeof decodeSchema>;

export const loraSchema = z.strictObject({
  rank: z.int().min(1),
  alpha: z.number().gt(0),
  /** Module names; `auto` = the list of the model's architecture in palate_bridge/lora.py. */
  targets: z.union([z.literal("auto"), z.array(z.string().min(1)).min(1)]),
});

export const optimizerSchema = z.strictObject({
  epochs: z.int().min(1),
  questions_per_step: z.int().min(1),
  learning_rate: z.number().gt(0),
  schedule: z.enum(["cosine", "constant"]),
  /** Share of all steps in which the rate rises linearly from 0. */
  warmup_ratio: z.number().min(0).max(1),
  weight_decay: z.number().min(0),
  betas: z.tuple([z.number().min(0).lt(1), z.number().min(0).lt(1)]),
  max_grad_norm: z.number().gt(0),
  /** Stop after this many steps; null = all epochs. */
  max_steps: z.int().min(1).nullable(),
});

export const distilLossSchema = z.strictObject({
  direction: z.enum(["forward", "reverse", "jensen_shannon"]),
  /** Where the choice is made: KL over the whole vocabulary, or over the two letters renormalised. */
  choice_position: z.enum(["vocabulary", "letters"]),
  /** Divides both sides' logits in the loss; apart from the sampling temperature. */
  temperature: z.number().gt(0),
  /** Completion positions whose logits are held at once. */
  chunk_positions: z.int().min(1),
});

export const calibrateLossSchema = z.strictObject({ choice_position: z.enum(["vocabulary", "letters"]) });

export const gateSchema = z.strictObject({
  /** A trace that repeats this many tokens of the demonstration in a row is rejected. */
  max_copied_tokens: z.int().min(2),
});

const lineageSchema = z.strictObject({
  data_digest: hex,
  split_digest: hex,
  fold: count.nullable(),
  base: z.strictObject({ source: z.string(), revision: z.string().nullable(), digest: z.string() }),
  tokenizer_digest: hex,
  parents: z.array(z.strictObject({ stage: z.string(), key: hex })),
});

const task = {
  key: hex,
  /** For people: "fold 0 · distil". */
  label: z.string(),
  /** Absolute path of checkpoints/stages/<stage>-<key>. */
  folder: z.string(),
  seed: count,
  /** Absolute path of the Arrow stream of presentations (runs/prompts-file.ts). */
  prompts: z.string(),
  /** Questions of this stage, in the order of the question set. */
  ids: z.array(z.string().min(1)).min(1),
  lineage: lineageSchema,
};
const adapter = z.string().nullable();

export const stageTaskSchema = z.discriminatedUnion("stage", [
  z.strictObject({
    stage: z.literal("generate"),
    ...task,
    /** The teacher reads the demonstration and has no adapter; the student reads the question only. */
    role: z.enum(["teacher", "student"]),
    adapter,
    samples: z.int().min(1),
    decode: decodeSchema,
    gate: gateSchema.nullable(),
  }),
  z.strictObject({
    stage: z.literal("distil"),
    ...task,
    traces: z.string(),
    lora: loraSchema,
    loss: distilLossSchema,
    optimizer: optimizerSchema,
  }),
  z.strictObject({
    stage: z.literal("calibrate"),
    ...task,
    traces: z.string(),
    adapter: z.string(),
    loss: calibrateLossSchema,
    optimizer: optimizerSchema,
  }),
  z.strictObject({
    stage: z.literal("score"),
    ...task,
    checkpoint: z.enum(["base", "distilled", "calibrated"]),
    adapter,
    samples: z.int().min(1),
    decode: decodeSchema,
  }),
]);
export type StageTask = z.infer<typeof stageTaskSchema>;

export const jobSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    protocol: z.literal(PROTOCOL_VERSION),
    kind: z.literal("resolve"),
    source: z.string().min(1),
    revision: z.string().nullable(),
    /** Where converted and downloaded models are kept. */
    cache_dir: z.string(),
    /** Fetch only what Node needs to render prompts. */
    tokenizer_only: z.boolean(),
  }),
  z.strictObject({
    protocol: z.literal(PROTOCOL_VERSION),
    kind: z.literal("stages"),
    job: z.string(),
    model: z.strictObject({
      path: z.string(),
      digest: z.string(),
      dtype: z.enum(["float32", "bfloat16"]),
      device: z.enum(["auto", "cpu", "cuda"]),
    }),
    /** Never part of an identity: the results depend on it by rounding alone. */
    execution: z.strictObject({
      threads: z.int().min(1).nullable(),
      checkpoint_every_steps: z.int().min(1),
      /** Training passes: what the sequences of a question share is computed once, or each one whole. */
      form: z.enum(["shared", "reference"]),
      gradient_checkpointing: z.boolean(),
      /** What the backward pass needs waits in host memory. */
      offload_activations: z.boolean(),
    }),
    stages: z.array(stageTaskSchema).min(1),
  }),
]);
export type Job = z.infer<typeof jobSchema>;
export type StagesJob = Extract<Job, { kind: "stages" }>;

/** A number, or null where Python had NaN or an infinity. */
const figure = z.number().nullable();

const seconds = z.number().min(0);
const at = { t: seconds };

export const eventSchema = z.discriminatedUnion("event", [
  z.strictObject({
    event: z.literal("job_started"),
    ...at,
    protocol: z.literal(PROTOCOL_VERSION),
    pid: count,
    start_ticks: count.nullable(),
    device: z.string(),
    threads: count,
    versions: z.record(z.string(), z.string()),
  }),
  z.strictObject({
    event: z.literal("model_resolved"),
    ...at,
    path: z.string(),
    revision: z.string().nullable(),
    digest: z.string(),
    architecture: z.string(),
  }),
  z.strictObject({ event: z.literal("model_loaded"), ...at, seconds, parameters: count }),
  z.strictObject({
    event: z.literal("stage_started"),
    ...at,
    key: hex,
    attempt: z.int().min(1),
    /** What an earlier attempt left: steps or presentations already done. */
    done: count,
    total: count,
  }),
  z.strictObject({
    event: z.literal("progress"),
    ...at,
    key: hex,
    done: count,
    total: count,
    tokens: count,
    tokens_per_second: figure,
    eta_seconds: figure,
  }),
  z.strictObject({
    event: z.literal("step"),
    ...at,
    key: hex,
    step: z.int().min(1),
    total: count,
    loss: figure,
    grad_norm: figure,
    learning_rate: z.number(),
    supervised_tokens: count,
    tokens: count,
    tokens_per_second: figure,
    eta_seconds: figure,
  }),
  z.strictObject({ event: z.literal("checkpointed"), ...at, key: hex, done: count }),
  z.strictObject({
    event: z.literal("warning"),
    ...at,
    key: hex.nullable(),
    code: z.string(),
    message: z.string(),
  }),
  z.strictObject({
    event: z.literal("heartbeat"),
    ...at,
    rss_bytes: count,
    accelerator_bytes: count.nullable(),
  }),
  z.strictObject({ event: z.literal("stage_done"), ...at, key: hex, seconds }),
  z.strictObject({
    event: z.literal("failed"),
    ...at,
    key: hex.nullable(),
    exit_code: count,
    message: z.string(),
    next_step: z.string().nullable(),
  }),
  z.strictObject({ event: z.literal("job_done"), ...at }),
]);
export type BridgeEvent = z.infer<typeof eventSchema>;

/** result.json of a stage, written last by rename: its presence is success. */
export const stageResultSchema = z.strictObject({
  stage: z.enum(["generate", "distil", "calibrate", "score"]),
  key: hex,
  seconds,
  /** sha256 of each file the stage leaves, by name. */
  files: z.record(z.string(), hex),
  adapter_sha256: hex.nullable(),
  /** Counts and means; what they are depends on the stage. */
  counts: z.record(z.string(), count),
  figures: z.record(z.string(), figure),
  warnings: z.array(z.string()),
});
export type StageResult = z.infer<typeof stageResultSchema>;

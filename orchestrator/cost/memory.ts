import { type AdapterShape, adapterParameters } from "./adapter.ts";
import { type Architecture, countOf, countParameters, layerCount } from "./architecture.ts";
import {
  allLayersBytes,
  backwardBytes,
  forwardBytes,
  type LayerMemoryRequest,
  largestLayerBytes,
} from "./layer-memory.ts";
import { convolvedChannels } from "./layers.ts";

export type Dtype = "float32" | "bfloat16";

interface MemoryBase {
  readonly architecture: Architecture;
  readonly dtype: Dtype;
  readonly adapter: AdapterShape | null;
  readonly adapterInputs: LayerMemoryRequest["adapterInputs"];
  readonly deltaCode: LayerMemoryRequest["deltaCode"];
  readonly device: "cuda" | "cpu";
  /** Different tokens that pass the model together. */
  readonly tokens: number;
}

export interface AnswerMemoryRequest extends MemoryBase {
  /** Replies written side by side, and tokens of cache that all of them have at the end. */
  readonly replies: number;
  readonly cachedTokens: number;
}

export interface TrainingMemoryRequest extends MemoryBase {
  readonly adapter: AdapterShape;
  readonly checkpointing: boolean;
  /** What checkpointing stores lies in host memory. */
  readonly offload: boolean;
  /** Completion positions whose logits exist at once; 0 = a loss at single positions only. */
  readonly chunkPositions: number;
  /** Tensors of [positions, V] in float32 that the loss has at its widest: losses.py has 7, 8 for Jensen-Shannon. */
  readonly chunkCopies: number;
}

/** Bytes on the device by part; `host` lies in host memory and is no part of the total. */
export interface MemoryParts {
  readonly weights: number;
  readonly adapter: number;
  readonly stored: number;
  readonly layer: number;
  readonly edges: number;
  readonly head: number;
  readonly cache: number;
  readonly runtime: number;
  readonly total: number;
  readonly host: number;
}

const BYTES: Readonly<Record<Dtype, number>> = { float32: 4, bfloat16: 2 };
const GIB = 1024 ** 3;
/** CUDA context, workspaces and what the allocator cannot give back; Python with torch and transformers. */
const RUNTIME: Readonly<Record<"cuda" | "cpu", number>> = { cuda: 1.5 * GIB, cpu: 0.5 * GIB };
/** Weight, gradient and two moments, all float32. */
const TRAINED_BYTES = 16;

export function dtypeBytes(dtype: Dtype): number {
  return BYTES[dtype];
}

/** Peak of a training step: the backward pass of one layer, with everything that waits for its turn. */
export function trainingMemory(request: TrainingMemoryRequest): MemoryParts {
  const { architecture, tokens, checkpointing, offload, chunkPositions, chunkCopies } = request;
  const layer = layerRequest(request);
  const checkpoints = tokens * layerCount(architecture) * architecture.hidden * layer.bytes;
  const moved = checkpointing && offload;
  const kept = checkpointing ? checkpoints : tokens * allLayersBytes(layer);
  const again = checkpointing ? largestLayerBytes(layer) : 0;
  return total(request, {
    adapter: TRAINED_BYTES * adapterParameters(architecture, request.adapter),
    stored: moved ? 0 : kept,
    layer: tokens * (again + backwardBytes(layer)),
    head: 4 * chunkCopies * Math.max(1, chunkPositions) * architecture.vocab,
    cache: 0,
    host: moved ? checkpoints : 0,
  });
}

/** Peak of writing replies: the prompt's forward pass, with the cache as it is at the end. */
export function answerMemory(request: AnswerMemoryRequest): MemoryParts {
  const { architecture, tokens, adapter } = request;
  return total(request, {
    adapter: adapter === null ? 0 : 4 * adapterParameters(architecture, adapter),
    stored: 0,
    layer: tokens * forwardBytes(layerRequest(request)),
    head: 4 * 4 * request.replies * architecture.vocab,
    cache: cacheBytes(request),
    host: 0,
  });
}

/** Keys and values of the attention layers; convolution and recurrent state (float32) of the others. */
export function cacheBytes(
  request: Pick<AnswerMemoryRequest, "architecture" | "dtype" | "cachedTokens" | "replies">,
): number {
  const { architecture, cachedTokens, replies } = request;
  const bytes = BYTES[request.dtype];
  const keys = architecture.kvHeads * architecture.headDim;
  const values = 2 * keys * bytes * countOf(architecture, "full_attention") * cachedTokens;
  return values + replies * stateBytes(architecture, bytes);
}

function stateBytes(architecture: Architecture, bytes: number): number {
  const { delta } = architecture;
  if (delta === null) return 0;
  const recurrent = 4 * delta.valueHeads * delta.keyDim * delta.valueDim;
  const convolution = bytes * delta.kernel * convolvedChannels(delta);
  return countOf(architecture, "linear_attention") * (recurrent + convolution);
}

function layerRequest(request: MemoryBase): LayerMemoryRequest {
  const { architecture, adapter, adapterInputs, deltaCode } = request;
  return { architecture, adapter, adapterInputs, deltaCode, bytes: BYTES[request.dtype] };
}

function total(
  { architecture, dtype, device, tokens }: MemoryBase,
  parts: Pick<MemoryParts, "adapter" | "stored" | "layer" | "head" | "cache" | "host">,
): MemoryParts {
  const weights = BYTES[dtype] * countParameters(architecture);
  // Embeddings and final hidden states with their gradients.
  const edges = 4 * tokens * architecture.hidden * BYTES[dtype];
  const runtime = RUNTIME[device];
  const { adapter, stored, layer, head, cache } = parts;
  return {
    weights,
    ...parts,
    edges,
    runtime,
    total: weights + adapter + stored + layer + edges + head + cache + runtime,
  };
}

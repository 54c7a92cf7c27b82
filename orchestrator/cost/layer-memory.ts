import { type AdapterShape, targetsOf } from "./adapter.ts";
import { type Architecture, type GatedDelta, type LayerGroup, type Linear, sum } from "./architecture.ts";
import { convolvedChannels } from "./layers.ts";

export interface LayerMemoryRequest {
  readonly architecture: Architecture;
  /** Bytes of an element of the base: 4 or 2. */
  readonly bytes: number;
  readonly adapter: AdapterShape | null;
  /** PEFT keeps adapters in float32 and copies what goes into each of them, unless autocast is on. */
  readonly adapterInputs: "float32" | "base";
  /** Gated DeltaNet in fused kernels (flash-linear-attention), or in transformers' own tensor code. */
  readonly deltaCode: "fused" | "torch";
}

const FLOAT32 = 4;
/** Tokens of a chunk of the delta rule; matrices of this size squared are kept for each. */
const CHUNK = 64;

/**
 * Bytes a token that autograd keeps of the largest layer, exact for transformers 5.24 and PEFT 0.21 over scaled
 * dot product attention (measured: test/fixtures/cost/activations.json); estimates for fused kernels.
 */
export function largestLayerBytes(request: LayerMemoryRequest): number {
  return Math.max(...request.architecture.layers.map((group) => savedBytes(request, group)));
}

/** The same of all layers together: what training without checkpointing keeps. */
export function allLayersBytes(request: LayerMemoryRequest): number {
  return sum(request.architecture.layers, (group) => group.count * savedBytes(request, group));
}

/** Gradients and temporaries beside what is kept, when the backward pass is in the MLP of a layer. */
export function backwardBytes({ architecture, bytes, adapterInputs }: LayerMemoryRequest): number {
  const { hidden, ffn } = architecture;
  if (bytes === FLOAT32 || adapterInputs === "base") return bytes * (2 * ffn + 1.5 * hidden);
  return 8 * ffn + 15 * hidden;
}

/** Bytes a token while a sequence passes a layer without gradients: the widest moment of MLP or delta rule. */
export function forwardBytes(request: LayerMemoryRequest): number {
  return Math.max(mlpForwardBytes(request), deltaForwardBytes(request));
}

function savedBytes(request: LayerMemoryRequest, group: LayerGroup): number {
  const { architecture, bytes } = request;
  const norms = 2 * FLOAT32 * (architecture.hidden + 1);
  const mlp = 3 * architecture.ffn * bytes;
  const mixer =
    group.kind === "full_attention" ? attentionBytes(request) : deltaBytes(request, architecture.delta);
  return norms + mlp + mixer + adapterBytes(request, group);
}

/** Queries, keys, values, output and its log-sum; copies before head norms and around the output gate. */
function attentionBytes({ architecture, bytes }: LayerMemoryRequest): number {
  const { heads, kvHeads, headDim, gated, headNorms } = architecture;
  const queries = heads * headDim;
  const keys = kvHeads * headDim;
  const core = bytes * (2 * queries + 2 * keys) + FLOAT32 * heads;
  // In float32 no copy is made: the norm keeps the projection itself, which also holds the gate.
  const beforeNorm = queries * (gated && bytes === FLOAT32 ? 2 : 1) + keys + heads + kvHeads;
  return core + (headNorms ? FLOAT32 * beforeNorm : 0) + (gated ? 2 * queries * bytes : 0);
}

function deltaBytes({ bytes, deltaCode }: LayerMemoryRequest, delta: GatedDelta | null): number {
  if (delta === null) return 0;
  const { keyHeads, valueHeads, keyDim, valueDim } = delta;
  const convolution = 2 * bytes * convolvedChannels(delta);
  const states = (valueHeads * keyDim * valueDim) / CHUNK;
  const values = valueHeads * valueDim;
  if (deltaCode === "fused") {
    return convolution + bytes * (2 * keyHeads * keyDim + 3 * values + valueHeads * CHUNK + states);
  }
  const perHead = 5 * CHUNK + 10;
  const wide = valueHeads * ((keyDim + valueDim) / 2);
  return convolution + FLOAT32 * (valueHeads * perHead + states) + wide * (11 * FLOAT32 + 9 * bytes);
}

/** Inputs kept for the gradient of A, and A's outputs for that of B. */
function adapterBytes(request: LayerMemoryRequest, group: LayerGroup): number {
  const { adapter, bytes, adapterInputs } = request;
  if (adapter === null) return 0;
  const targets = targetsOf(group.linears, adapter).filter((linear) => !inDeltaBytes(request, linear));
  const inner = FLOAT32 * adapter.rank * targetsOf(group.linears, adapter).length;
  if (bytes !== FLOAT32 && adapterInputs === "float32") {
    return inner + FLOAT32 * sum(targets, ({ inputs }) => inputs);
  }
  const shared = new Map(targets.map((linear) => [inputOf(linear), linear.inputs]));
  // Attention keeps its own output; only a gate puts another tensor between it and the projection.
  if (group.kind === "full_attention" && !request.architecture.gated) shared.delete("mixed");
  return inner + bytes * sum([...shared.values()], (inputs) => inputs);
}

function inDeltaBytes({ deltaCode, adapterInputs, bytes }: LayerMemoryRequest, { name }: Linear): boolean {
  const copied = bytes !== FLOAT32 && adapterInputs === "float32";
  return name === "out_proj" && (deltaCode === "torch" || !copied);
}

/** Modules that read the same tensor share what is kept of it. */
function inputOf({ name }: Linear): string {
  if (name === "gate_proj" || name === "up_proj") return "mlp";
  if (name === "down_proj") return "product";
  return name === "o_proj" || name === "out_proj" ? "mixed" : "mixer";
}

function mlpForwardBytes({ architecture, bytes, adapter, adapterInputs }: LayerMemoryRequest): number {
  const { hidden, ffn } = architecture;
  if (adapter === null) return bytes * (3 * ffn + 4 * hidden);
  if (bytes === FLOAT32 || adapterInputs === "base") return bytes * (4 * ffn + 4 * hidden);
  return 16 * ffn + 12 * hidden;
}

function deltaForwardBytes({ architecture, bytes, deltaCode }: LayerMemoryRequest): number {
  const { hidden, delta } = architecture;
  if (delta === null || deltaCode === "fused") return 0;
  const { keyHeads, valueHeads, keyDim, valueDim } = delta;
  const perHead = (40.5 + 2 * bytes) * valueDim + 3.1 * CHUNK * FLOAT32;
  return valueHeads * perHead + 2 * bytes * keyHeads * keyDim + 3 * bytes * hidden;
}

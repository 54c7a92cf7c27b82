import { type AdapterShape, adapterParameters } from "./adapter.ts";
import { type Architecture, countOf, matrixParameters, sum } from "./architecture.ts";

/** `tokens` computed one after the other behind `context` that is already in the cache. */
export interface Span {
  readonly context: number;
  readonly tokens: number;
}

export interface FlopsRequest {
  readonly architecture: Architecture;
  readonly spans: readonly Span[];
  /** null = the base alone. */
  readonly adapter: AdapterShape | null;
}

/** One forward pass by part, in FLOPs; a multiplication with its addition counts 2. */
export interface FlopsParts {
  readonly matrices: number;
  readonly adapter: number;
  readonly attention: number;
  readonly recurrence: number;
}

/** Tokens of a chunk in the chunked form of the delta rule, in transformers and in fla. */
const DELTA_CHUNK = 64;

/** docs/cost-model.md, section FLOPs. */
export function forwardFlops(request: FlopsRequest): number {
  const { matrices, adapter, attention, recurrence } = forwardParts(request);
  return matrices + adapter + attention + recurrence;
}

/**
 * Forward and backward of an adapter over frozen weights. Frozen matrices: one pass for the outputs and one for
 * the gradient of the inputs; adapters one more, for their own; attention five products back for two forth
 * (Dao 2023, arXiv 2307.08691). Checkpointing adds one forward pass.
 */
export function trainingFlops(request: FlopsRequest & { readonly checkpointing: boolean }): number {
  const { matrices, adapter, attention, recurrence } = forwardParts(request);
  const again = request.checkpointing ? 1 : 0;
  return (
    (2 + again) * matrices + (3 + again) * adapter + (3.5 + again) * attention + (3 + again) * recurrence
  );
}

/** One multiplication of `positions` hidden states with the vocabulary. */
export function headFlops({ hidden, vocab }: Architecture, positions: number): number {
  return 2 * hidden * vocab * positions;
}

export function forwardParts({ architecture, spans, adapter }: FlopsRequest): FlopsParts {
  const tokens = sum(spans, (span) => span.tokens);
  const pairs = sum(spans, (span) => span.tokens * (span.context + (span.tokens + 1) / 2));
  const queries = architecture.heads * architecture.headDim;
  return {
    matrices: 2 * matrixParameters(architecture) * tokens,
    adapter: adapter === null ? 0 : 2 * adapterParameters(architecture, adapter) * tokens,
    attention: 4 * queries * countOf(architecture, "full_attention") * pairs,
    recurrence: recurrenceFlops(architecture) * tokens,
  };
}

/** Of a token through all Gated DeltaNet layers, in chunks; independent of the length. */
function recurrenceFlops(architecture: Architecture): number {
  const { delta } = architecture;
  if (delta === null) return 0;
  const { valueHeads, keyDim, valueDim } = delta;
  const within = 2 * DELTA_CHUNK * (3 * keyDim + 2 * valueDim) + (2 / 3) * DELTA_CHUNK ** 2;
  const state = 6 * keyDim * valueDim;
  return countOf(architecture, "linear_attention") * valueHeads * (within + state);
}

"""The decoder over all sequences of one question at once: every token they share is computed once.

Exact, forward and backward: the reference form (LoadedModel.hidden_states, one whole sequence at a time) is
what it is tested against. Written against the decoder layers of transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from transformers import AttentionInterface

from palate_bridge.branch import MIN_SHARED, Forest, plan
from palate_bridge.branch_attention import forest_attention
from palate_bridge.branch_delta import delta_over_forest
from palate_bridge.model import LoadedModel, decoder
from palate_bridge.offload import offloaded

LAYERS = {
    "LlamaDecoderLayer",
    "MistralDecoderLayer",
    "Qwen2DecoderLayer",
    "Qwen3DecoderLayer",
    "Qwen3_5DecoderLayer",
}
# These change their frequencies with the length of what they read, and sequences of a question differ in it.
MOVING_ROPE = {"dynamic", "longrope"}
ATTENTION = "palate_forest"

AttentionInterface.register(ATTENTION, forest_attention)


@dataclass(frozen=True)
class BranchOptions:
    """recompute: keep a layer's input alone, and run the layer again in the backward pass.
    offload: what is kept for the backward pass waits in host memory.
    """

    recompute: bool = False
    offload: bool = False
    min_shared: int = MIN_SHARED


@dataclass(frozen=True)
class Branches:
    """hidden: [rows_i, H] of each sequence. tokens: how many were run through the layers."""

    hidden: list[Tensor]
    tokens: int


def hidden_of_branches(
    loaded: LoadedModel,
    module: nn.Module,
    sequences: Sequence[Sequence[int]],
    rows: Sequence[Sequence[int]],
    options: BranchOptions,
) -> Branches:
    """Final hidden states, after the last norm, at the asked positions of each sequence. No padding, nothing
    cut; gradients follow the caller's mode.
    """
    forest = plan(sequences, options.min_shared)
    with offloaded(loaded.device) if options.offload else nullcontext():
        flat_UH = run_layers(decoder(module), forest, loaded.device, options.recompute)
    places = [forest.places(sequence, asked) for sequence, asked in enumerate(rows)]
    return Branches([flat_UH[asked] for asked in places], len(forest.ids))


def why_not_shared(model: Any) -> str | None:
    """Why a decoder cannot be run over a forest; None = it can."""
    config = model.config
    foreign = {type(layer).__name__ for layer in model.layers} - LAYERS
    if foreign:
        return f"layers of {', '.join(sorted(foreign))} are not known to it"
    kinds = getattr(config, "layer_types", None) or []
    sliding = config.model_type == "mistral" and config.sliding_window is not None
    if sliding or "sliding_attention" in kinds:
        return "attention over a sliding window"
    if model.rotary_emb.rope_type in MOVING_ROPE:
        return f"rotary embedding {model.rotary_emb.rope_type}, which depends on the length of a sequence"
    return None


def run_layers(model: Any, forest: Forest, device: torch.device, recompute: bool) -> Tensor:
    """[U, H]: all flat places of the forest, after the last norm."""
    hidden = model.embed_tokens(torch.tensor([forest.ids], device=device))
    rotary = model.rotary_emb(hidden, position_ids=torch.tensor([forest.positions], device=device))
    for layer in model.layers:
        body = layer_body(layer, model.config, rotary, forest)
        if recompute and torch.is_grad_enabled():
            hidden = checkpoint(body, hidden, use_reentrant=False, preserve_rng_state=False)
        else:
            hidden = body(hidden)
    return model.norm(hidden)[0]


def layer_body(
    layer: Any, config: Any, rotary: tuple[Tensor, Tensor], forest: Forest
) -> Callable[[Tensor], Tensor]:
    """One pre-norm decoder layer, prefix and branches together. It sets all it needs itself: it is called
    again in the backward pass, when whoever called it first is gone.
    """

    def body(hidden: Tensor) -> Tensor:
        normed = layer.input_layernorm(hidden)
        if hasattr(layer, "linear_attn"):
            mixed = delta_over_forest(layer.linear_attn, normed, forest)
        else:
            with attention(config):
                mixed, _ = layer.self_attn(
                    hidden_states=normed, position_embeddings=rotary, attention_mask=None, forest=forest
                )
        hidden = hidden + mixed
        return hidden + layer.mlp(layer.post_attention_layernorm(hidden))

    return body


@contextmanager
def attention(config: Any) -> Iterator[None]:
    """Transformers looks the attention function up by the name in its config, at each call."""
    before = config._attn_implementation
    config._attn_implementation = ATTENTION
    try:
        yield
    finally:
        config._attn_implementation = before

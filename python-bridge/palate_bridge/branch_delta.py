"""The Gated DeltaNet mixer over a forest of tokens (Yang, Kautz and Hatamizadeh 2024).

Its state after a token is a convolution's last inputs and a matrix a head. Nodes run level by level, each
from the state its parent ended in; nodes of one level run together, padded on the right. A pad has beta = 0
and log-decay = 0, which leaves the matrix exactly as it is. States are handed on as new tensors: a cache that
copies in place would cut the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers.models.qwen3_5.modeling_qwen3_5 import torch_chunk_gated_delta_rule

from palate_bridge.branch import Forest


@dataclass(frozen=True)
class Inputs:
    """One piece a node: mixed [T, C] before the convolution, log-decay and beta [T, heads]."""

    mixed: tuple[Tensor, ...]
    decay: tuple[Tensor, ...]
    beta: tuple[Tensor, ...]


@dataclass(frozen=True)
class State:
    """After a node: the convolution's last inputs [C, kernel - 1] and the matrices [heads, K, V]."""

    recent: Tensor
    memory: Tensor


def delta_over_forest(mixer: Any, hidden: Tensor, forest: Forest) -> Tensor:
    """hidden [1, U, H] -> [1, U, H]. `mixer` is a Qwen3_5GatedDeltaNet, with or without LoRA inside."""
    inputs = project(mixer, hidden, [node.length for node in forest.nodes])
    states: dict[int, State] = {}
    outputs: dict[int, Tensor] = {}
    for level in forest.levels():
        outputs |= run_level(mixer, forest, level, inputs, states)
    core = torch.cat([outputs[index] for index in range(len(forest.nodes))])
    gate = mixer.in_proj_z(hidden)
    normed = mixer.norm(core.reshape(-1, mixer.head_v_dim), gate.reshape(-1, mixer.head_v_dim))
    return mixer.out_proj(normed.reshape(1, hidden.shape[1], -1))


def project(mixer: Any, hidden: Tensor, lengths: list[int]) -> Inputs:
    beta = mixer.in_proj_b(hidden).sigmoid()
    decay = -mixer.A_log.float().exp() * F.softplus(mixer.in_proj_a(hidden).float() + mixer.dt_bias)
    mixed = mixer.in_proj_qkv(hidden)
    return Inputs(*(x[0].split(lengths) for x in (mixed, decay, beta)))


def run_level(
    mixer: Any, forest: Forest, level: list[int], inputs: Inputs, states: dict[int, State]
) -> dict[int, Tensor]:
    """Outputs [T, heads, V] of a level's nodes; leaves the states of those that others follow in `states`."""
    before = [states.get(forest.nodes[index].parent) for index in level]  # type: ignore[arg-type]
    mixed = pad_sequence([inputs.mixed[index] for index in level], batch_first=True).mT
    window = torch.cat([recent_of(before, mixed, mixer.conv_kernel_size - 1), mixed], dim=-1)
    convolved = F.silu(F.conv1d(window, mixer.conv1d.weight, mixer.conv1d.bias, groups=mixer.conv_dim)).mT
    followed = any(forest.nodes[index].has_children for index in level)
    core, memory = torch_chunk_gated_delta_rule(
        *heads_of(mixer, convolved),
        g=pad_sequence([inputs.decay[index] for index in level], batch_first=True),
        beta=pad_sequence([inputs.beta[index] for index in level], batch_first=True),
        initial_state=memory_of(before),
        output_final_state=followed,
        use_qk_l2norm_in_kernel=True,
    )
    for row, index in enumerate(level):
        node = forest.nodes[index]
        if node.has_children:
            recent = window[row, :, node.length : node.length + mixer.conv_kernel_size - 1]
            states[index] = State(recent, memory[row])
    return {index: core[row, : forest.nodes[index].length] for row, index in enumerate(level)}


def recent_of(before: list[State | None], mixed: Tensor, width: int) -> Tensor:
    """[N, C, width]: zeros in front of a root, as the model's own padding."""
    nothing = mixed.new_zeros(mixed.shape[1], width)
    return torch.stack([nothing if state is None else state.recent for state in before])


def memory_of(before: list[State | None]) -> Tensor | None:
    """[N, heads, K, V]. A level is all roots or none."""
    return torch.stack([state.memory for state in before if state is not None]) if any(before) else None


def heads_of(mixer: Any, convolved: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """[N, T, C] -> query, key [N, T, key heads, K], value [N, T, value heads, V]."""
    query, key, value = convolved.split([mixer.key_dim, mixer.key_dim, mixer.value_dim], dim=-1)
    by_key = (mixer.num_k_heads, mixer.head_k_dim)
    return (
        query.unflatten(-1, by_key),
        key.unflatten(-1, by_key),
        value.unflatten(-1, (mixer.num_v_heads, mixer.head_v_dim)),
    )

"""Attention over a forest of tokens, without a copy of what branches share.

Each node reads itself causally, and everything below a node reads that node whole. A token's softmax is thus
cut into parts, one a node on its path; parts are joined by their log-sum-exp in float32, as blockwise and
ring attention do (Liu, Zaharia and Abbeel 2023). Given the joined output and log-sum-exp, the backward pass
of a part is flash attention's own (Dao 2023: only p = exp(s - lse) and rowsum(dO * O) enter), so no score
matrix is kept. Query heads that read the same key head are folded into the query axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from palate_bridge.attention_kernels import Kernel, kernel_for
from palate_bridge.branch import Forest


@dataclass(frozen=True)
class Part:
    """Flat places of the queries and of the keys they read; causal where both are the same node."""

    queries: slice
    keys: slice
    causal: bool


def forest_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    forest: Forest,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """As transformers calls an attention function: query [1, H, U, D], key and value [1, K, U, D], K divides
    H. Gives [1, U, H, D].
    """
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    key_heads = key.shape[1]
    folded = query[0].unflatten(0, (key_heads, query.shape[1] // key_heads))
    out = ForestAttention.apply(folded, key[0], value[0], parts_of(forest), scale)
    return out.flatten(0, 1).transpose(0, 1)[None], None  # type: ignore[union-attr]


def parts_of(forest: Forest) -> list[Part]:
    """First every node with itself, so that each query's first part is plainly written."""
    own = [(node.start, node.end) for node in forest.nodes]
    below = [(node, slice(node.end, node.subtree_end)) for node in forest.nodes if node.has_children]
    return [Part(slice(*span), slice(*span), True) for span in own] + [
        Part(queries, slice(node.start, node.end), False) for node, queries in below
    ]


class ForestAttention(torch.autograd.Function):
    """query [K, G, U, D] of G query heads a key head; key, value [K, U, D]. Gives [K, G, U, D]."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, parts: list[Part], scale: float
    ) -> Tensor:
        kernel = kernel_for(query)
        wide = torch.promote_types(query.dtype, torch.float32)
        out = torch.zeros(query.shape, dtype=wide, device=query.device)
        lse = torch.zeros(query.shape[:-1], dtype=wide, device=query.device)
        for part in parts:
            found, found_lse = kernel.forward(*operands(part, query, key, value), part.causal, scale)
            places = (..., part.queries)
            found_lse = found_lse.view(lse[places].shape)
            found = found.reshape(out[..., part.queries, :].shape)
            if part.causal:
                out[..., part.queries, :], lse[places] = found, found_lse
            else:
                join(out[..., part.queries, :], lse[places], found, found_lse)
        narrow = out.to(query.dtype)
        ctx.save_for_backward(query, key, value, narrow, lse)
        ctx.parts, ctx.scale = parts, scale
        return narrow

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, out, lse = ctx.saved_tensors
        kernel = kernel_for(query)
        totals = [torch.zeros(x.shape, dtype=lse.dtype, device=x.device) for x in (query, key, value)]
        for part in ctx.parts:
            add_gradients(totals, kernel, part, (gradients[0], query, key, value, out, lse), ctx.scale)
        return (
            *(total.to(x.dtype) for total, x in zip(totals, (query, key, value), strict=True)),
            None,
            None,
        )


def operands(part: Part, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """[K, heads, T, D] each. Causal: keys are seen by every head of the group, by stride and not by copy."""
    asked = fold(query[..., part.queries, :], part.causal)
    read = [x[:, None, part.keys].expand(-1, asked.shape[1], -1, -1) for x in (key, value)]
    return asked, read[0], read[1]


def fold(x: Tensor, causal: bool) -> Tensor:
    """[K, G, T, ...] -> [K, 1, G * T, ...] where the order of queries does not matter."""
    return x if causal else x.flatten(1, 2)[:, None]


def join(out: Tensor, lse: Tensor, more: Tensor, more_lse: Tensor) -> None:
    """Write into out and lse the attention over both sets of keys."""
    whole = torch.logaddexp(lse, more_lse)
    out.mul_((lse - whole).exp_()[..., None]).add_(more * (more_lse - whole).exp_()[..., None])
    lse.copy_(whole)


def add_gradients(
    totals: list[Tensor], kernel: Kernel, part: Part, saved: tuple[Tensor, ...], scale: float
) -> None:
    gradient, query, key, value, out, lse = saved
    folded = [fold(x[..., part.queries, :], part.causal) for x in (gradient, out)]
    folded_lse = fold(lse[..., part.queries], part.causal).contiguous()
    found = kernel.backward(
        folded[0], *operands(part, query, key, value), folded[1], folded_lse, part.causal, scale
    )
    asked = totals[0][..., part.queries, :]
    asked += found[0].reshape(asked.shape)
    for total, part_gradient in zip(totals[1:], found[1:], strict=True):
        total[:, part.keys] += part_gradient.sum(1)

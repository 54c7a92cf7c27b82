"""One softmax part of attention, forward and backward, with its log-sum-exp given and taken.

[B, H, T, D] in and out; log-sum-exp [B, H, T]. The backward pass takes the output and log-sum-exp of the
whole softmax, of which this part may be only one. Torch's own flash kernels do it; written out for what they
refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

aten: Any = torch.ops.aten


class Kernel(NamedTuple):
    """forward(query, key, value, causal, scale) -> output, log-sum-exp.
    backward(gradient, query, key, value, output, log-sum-exp, causal, scale) -> gradients of the three.
    """

    forward: Callable[[Tensor, Tensor, Tensor, bool, float], tuple[Tensor, Tensor]]
    backward: Callable[..., tuple[Tensor, Tensor, Tensor]]


def kernel_for(query: Tensor) -> Kernel:
    if query.device.type == "cpu":
        return CPU
    half = query.dtype in (torch.bfloat16, torch.float16)
    if query.device.type == "cuda" and half and query.shape[-1] % 8 == 0 and query.shape[-1] <= 256:
        return CUDA
    return WRITTEN_OUT


def cpu_forward(
    query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    return aten._scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, causal, scale=scale)


def cpu_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    lse: Tensor,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    return aten._scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, query, key, value, out, lse, 0.0, causal, scale=scale
    )


def cuda_forward(
    query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    out, lse, *_ = aten._scaled_dot_product_flash_attention(query, key, value, 0.0, causal, scale=scale)
    return out, lse


def cuda_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    lse: Tensor,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    # Without dropout the random state is not read.
    unread = torch.zeros(2, dtype=torch.uint64, device=query.device)
    return aten._scaled_dot_product_flash_attention_backward(
        gradient,
        query,
        key,
        value,
        out,
        lse,
        None,
        None,
        query.shape[2],
        key.shape[2],
        0.0,
        causal,
        unread,
        unread,
        scale=scale,
    )


def written_forward(
    query: Tensor, key: Tensor, value: Tensor, causal: bool, scale: float
) -> tuple[Tensor, Tensor]:
    scores = scores_of(query, key, causal, scale)
    lse = scores.logsumexp(-1)
    return (scores - lse[..., None]).exp() @ value.to(scores.dtype), lse


def written_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    lse: Tensor,
    causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    gradient, value, out = (x.to(lse.dtype) for x in (gradient, value, out))
    shares = (scores_of(query, key, causal, scale) - lse[..., None]).exp()
    of_scores = shares * (gradient @ value.mT - (gradient * out).sum(-1, keepdim=True)) * scale
    return (
        of_scores @ key.to(lse.dtype),
        of_scores.mT @ query.to(lse.dtype),
        shares.mT @ gradient,
    )


def scores_of(query: Tensor, key: Tensor, causal: bool, scale: float) -> Tensor:
    wide = torch.promote_types(query.dtype, torch.float32)
    scores = query.to(wide) @ key.to(wide).mT * scale
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
    return scores


CPU = Kernel(cpu_forward, cpu_backward)
CUDA = Kernel(cuda_forward, cuda_backward)
WRITTEN_OUT = Kernel(written_forward, written_backward)

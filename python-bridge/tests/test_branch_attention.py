"""Attention over a forest equals attention with a mask that says who comes before whom, in float64."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from palate_bridge import branch_attention
from palate_bridge.attention_kernels import CPU, WRITTEN_OUT, Kernel
from palate_bridge.branch import Forest, plan
from palate_bridge.branch_attention import forest_attention

SEQUENCES = [[1, 2, 3, 4, 5, 6], [1, 2, 3, 7], [1, 2, 3, 7, 8, 9, 9], [5, 5], [1, 2]]
HEADS, KEY_HEADS, WIDTH = 6, 2, 8


def readable(forest: Forest) -> Tensor:
    """[U, U]: may the token at this place read that one? Only what comes before it in a sequence."""
    allowed = torch.zeros(len(forest.ids), len(forest.ids), dtype=torch.bool)
    for index, path in enumerate(forest.paths):
        length = sum(forest.nodes[node].length for node in path)
        flat = forest.places(index, range(length))
        for place, token in enumerate(flat):
            allowed[token, flat[: place + 1]] = True
    return allowed


def operands(forest: Forest, dtype: torch.dtype) -> list[Tensor]:
    random = torch.Generator().manual_seed(1)
    return [
        torch.randn(1, heads, len(forest.ids), WIDTH, generator=random, dtype=torch.float64)
        .to(dtype)
        .requires_grad_()
        for heads in (HEADS, KEY_HEADS, KEY_HEADS)
    ]


def dense(query: Tensor, key: Tensor, value: Tensor, allowed: Tensor, scale: float) -> Tensor:
    key, value = (x.repeat_interleave(HEADS // KEY_HEADS, dim=1) for x in (key, value))
    scores = (query @ key.mT * scale).masked_fill(~allowed, float("-inf"))
    return (scores.softmax(-1) @ value).transpose(1, 2)


@pytest.mark.parametrize("kernel", [CPU, WRITTEN_OUT])
def test_output_and_gradients_are_those_of_a_masked_softmax(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch_attention, "kernel_for", lambda _: kernel)
    forest = plan(SEQUENCES, min_shared=1)
    inputs = operands(forest, torch.float64)
    found, _ = forest_attention(None, *inputs, None, forest=forest, scaling=0.7)
    wanted = dense(*inputs, readable(forest), 0.7)
    assert torch.allclose(found, wanted, rtol=1e-12, atol=1e-14)
    upstream = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    pairs = zip(
        torch.autograd.grad(found, inputs, upstream),
        torch.autograd.grad(wanted, inputs, upstream),
        strict=True,
    )
    assert all(torch.allclose(one, other, rtol=1e-11, atol=1e-13) for one, other in pairs)


@pytest.mark.parametrize("kernel", [CPU, WRITTEN_OUT])
def test_in_bfloat16_parts_are_joined_in_float32(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch_attention, "kernel_for", lambda _: kernel)
    forest = plan(SEQUENCES, min_shared=1)
    inputs = operands(forest, torch.bfloat16)
    found, _ = forest_attention(None, *inputs, None, forest=forest)
    assert found.dtype == torch.bfloat16
    wide = [x.detach().double() for x in inputs]
    wanted = dense(*wide, readable(forest), WIDTH**-0.5)
    assert (found.double() - wanted).norm() <= 4e-3 * wanted.norm()
    found.sum().backward()
    assert all(x.grad is not None and x.grad.dtype == torch.bfloat16 for x in inputs)


def test_scores_far_apart_lose_nothing() -> None:
    """A part whose every score is far below the other's has weight 0, and no NaN."""
    forest = plan([[1, 2, 3], [1, 4]], min_shared=1)
    query, key, value = operands(forest, torch.float64)
    far = key.detach().clone()
    far[:, :, 0] *= 1e4
    found, _ = forest_attention(None, query, far, value, None, forest=forest)
    assert torch.allclose(found, dense(query, far, value, readable(forest), WIDTH**-0.5), atol=1e-12)
    found.sum().backward()
    assert query.grad is not None
    assert query.grad.isfinite().all()

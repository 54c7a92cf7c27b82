"""What a step keeps follows its unique tokens, and never its tokens times the vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.profiler import ProfilerActivity, profile
from transformers import LlamaConfig, LlamaForCausalLM

from palate_bridge.branch_forward import BranchOptions, hidden_of_branches
from palate_bridge.losses import KlLoss, kl_sum
from palate_bridge.model import LoadedModel
from tests.tiny import make_adapter

VOCABULARY, CHUNK, BRANCHES = 248_320, 2, 3
LOSS = KlLoss("forward", 1.0, CHUNK, None)
CHUNK_BYTES = CHUNK * VOCABULARY * 4


@pytest.fixture(scope="module")
def wide() -> LoadedModel:
    """A tiny body under the vocabulary of a 27B model."""
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        bos_token_id=None,
        eos_token_id=None,
    )
    base = LlamaForCausalLM(config).eval().requires_grad_(False)
    return LoadedModel(base, None, torch.device("cpu"), torch.float32, "wide")  # type: ignore[arg-type]


def question(prefix: int, branches: int, length: int) -> tuple[list[list[int]], list[list[int]]]:
    start = list(range(prefix))
    sequences = [[*start, *range(1000 * (n + 1), 1000 * (n + 1) + length)] for n in range(branches)]
    return sequences, [list(range(prefix, prefix + length)) for _ in sequences]


def peak_bytes(loaded: LoadedModel, module: nn.Module, length: int) -> int:
    """The most that is alive at once in a step, over what was alive before it."""
    sequences, rows = question(40, BRANCHES, length)
    teacher = torch.randn(length, 16)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        found = hidden_of_branches(loaded, module, sequences, rows, BranchOptions(recompute=True))
        losses = [kl_sum(loaded.lm_head, hidden, teacher, None, LOSS) for hidden in found.hidden]
        torch.stack(losses).sum().backward()
    changes = [event for event in seen.profiler.kineto_results.events() if event.name() == "[memory]"]
    alive = peak = 0
    for event in sorted(changes, key=lambda event: event.start_ns()):
        alive += event.nbytes()
        peak = max(peak, alive)
    return peak


def test_logits_are_alive_for_one_chunk_only(wide: LoadedModel, tmp_path: Path) -> None:
    with wide.with_adapter(make_adapter(wide, tmp_path / "adapter"), trainable=True) as module:
        short, long = peak_bytes(wide, module, 4), peak_bytes(wide, module, 16)
    assert 2 * CHUNK_BYTES < short < 9 * CHUNK_BYTES
    assert long < short + CHUNK_BYTES / 10, "36 more rows of logits would be 18 chunks"


def kept_bytes(loaded: LoadedModel, module: nn.Module, branches: int, recompute: bool) -> int:
    """What autograd keeps of one forward pass for its backward pass, each storage once, weights aside."""
    weights = {weight.untyped_storage().data_ptr() for weight in module.parameters()}
    kept: dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept.setdefault(tensor.untyped_storage().data_ptr(), tensor)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        hidden_of_branches(loaded, module, *question(400, branches, 10), BranchOptions(recompute=recompute))
    return sum(tensor.untyped_storage().nbytes() for place, tensor in kept.items() if place not in weights)


@pytest.mark.parametrize("recompute", [False, True])
def test_what_is_kept_grows_with_unique_tokens(wide: LoadedModel, tmp_path: Path, recompute: bool) -> None:
    with wide.with_adapter(make_adapter(wide, tmp_path / "adapter"), trainable=True) as module:
        one, eight = (kept_bytes(wide, module, branches, recompute) for branches in (1, 8))
    assert eight / one == pytest.approx((400 + 8 * 10) / (400 + 10), rel=0.03)


def test_recomputing_keeps_little_more_than_the_input_of_each_layer(
    wide: LoadedModel, tmp_path: Path
) -> None:
    with wide.with_adapter(make_adapter(wide, tmp_path / "adapter"), trainable=True) as module:
        kept, plain = (kept_bytes(wide, module, 8, recompute) for recompute in (True, False))
    assert kept < plain / 5

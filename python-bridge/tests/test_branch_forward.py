"""Sharing is exact: losses and every gradient are those of whole sequences, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from palate_bridge.branch_forward import BranchOptions, hidden_of_branches, why_not_shared
from palate_bridge.lora import trainable
from palate_bridge.losses import KlLoss, kl_sum
from palate_bridge.model import LoadedModel
from palate_bridge.modes import teacher_mode
from tests.tiny import make_adapter

LOSS_TOLERANCE, GRADIENT_TOLERANCE = 1e-6, 1e-5
RANDOM = torch.Generator().manual_seed(7)
Hidden = Callable[[nn.Module, list[list[int]], list[list[int]]], list[Tensor]]


def some(count: int) -> list[int]:
    return torch.randint(0, 512, (count,), generator=RANDOM).tolist()


TASK, ORDERS = some(90), (some(41), some(38))
CASES = {
    "ragged branches": [TASK + some(length) for length in (3, 70, 1, 29)],
    "two orders, three traces each": [
        TASK + order + some(length) for order in ORDERS for length in (5, 66, 20)
    ],
    "one sequence": [TASK + some(9)],
    "one branch": [TASK, TASK + some(12)],
    "branches of one token": [[*TASK, token] for token in (4, 9, 77)],
    "a prefix of one token": [[8, *some(length)] for length in (20, 5, 66)],
    "nothing shared": [[start, *some(length)] for start, length in ((1, 20), (2, 3))],
    "the same sequence twice": [TASK[:40], TASK[:40]],
}
QUESTION = CASES["two orders, three traces each"]
FORWARD = KlLoss("forward", 1.0, 16, None)


@pytest.fixture(params=["loaded_llama", "loaded_qwen3", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def shared(loaded: LoadedModel, options: BranchOptions) -> Hidden:
    return lambda module, sequences, rows: hidden_of_branches(loaded, module, sequences, rows, options).hidden


def whole(loaded: LoadedModel) -> Hidden:
    return lambda module, sequences, rows: [
        loaded.hidden_states(module, ids)[asked] for ids, asked in zip(sequences, rows, strict=True)
    ]


def step(
    loaded: LoadedModel, folder: Path, sequences: list[list[int]], hidden: Hidden, loss: KlLoss
) -> tuple[float, dict[str, Tensor]]:
    """Loss and gradients of a student against a teacher that reads other tokens in front."""
    rows = [list(range(max(0, len(ids) - 25), len(ids))) for ids in sequences]
    told = [[3, 5, 8, *ids] for ids in sequences]
    told_rows = [[row + 3 for row in asked] for asked in rows]
    if not (folder / "adapter").exists():
        make_adapter(loaded, folder / "adapter", scale=0.3)
    with loaded.with_adapter(folder / "adapter", trainable=True) as module:
        with teacher_mode(module):
            teachers = hidden(module, told, told_rows)
        students = hidden(module, sequences, rows)
        total = torch.stack(
            [kl_sum(loaded.lm_head, *sides, 0, loss) for sides in zip(students, teachers, strict=True)]
        ).sum()
        total.backward()
        return total.item(), {name: weight.grad.clone() for name, weight in trainable(module)}


def assert_alike(one: tuple[float, dict[str, Tensor]], other: tuple[float, dict[str, Tensor]]) -> None:
    assert one[0] == pytest.approx(other[0], rel=LOSS_TOLERANCE)
    assert one[1].keys() == other[1].keys()
    for name, gradient in other[1].items():
        assert gradient.norm() > 0, name
        assert (one[1][name] - gradient).norm() <= GRADIENT_TOLERANCE * gradient.norm(), name


@pytest.mark.parametrize("case", CASES)
def test_every_gradient_is_that_of_whole_sequences(loaded: LoadedModel, tmp_path: Path, case: str) -> None:
    oracle = step(loaded, tmp_path, CASES[case], whole(loaded), FORWARD)
    options = BranchOptions(min_shared=1)
    assert_alike(step(loaded, tmp_path, CASES[case], shared(loaded, options), FORWARD), oracle)


@pytest.mark.parametrize(
    "loss", [KlLoss("reverse", 1.0, 7, (60, 61)), KlLoss("jensen_shannon", 2.0, 256, None)]
)
def test_it_holds_in_every_direction(loaded: LoadedModel, tmp_path: Path, loss: KlLoss) -> None:
    oracle = step(loaded, tmp_path, QUESTION, whole(loaded), loss)
    assert_alike(step(loaded, tmp_path, QUESTION, shared(loaded, BranchOptions()), loss), oracle)


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("offload", [False, True])
def test_recomputing_and_offloading_change_no_bit(
    loaded: LoadedModel, tmp_path: Path, recompute: bool, offload: bool
) -> None:
    plain = step(loaded, tmp_path, QUESTION, shared(loaded, BranchOptions()), FORWARD)
    options = BranchOptions(recompute, offload)
    other = step(loaded, tmp_path, QUESTION, shared(loaded, options), FORWARD)
    assert other[0] == plain[0]
    assert all(torch.equal(other[1][name], gradient) for name, gradient in plain[1].items())


def test_shared_tokens_are_run_once(loaded: LoadedModel) -> None:
    rows = [[0] for _ in QUESTION]
    with torch.no_grad():
        found = hidden_of_branches(loaded, loaded.base, QUESTION, rows, BranchOptions())
    assert found.tokens == 90 + 41 + 38 + 2 * (5 + 66 + 20)


def test_the_model_is_left_as_it_was(loaded: LoadedModel) -> None:
    before = loaded.base.config._attn_implementation
    with torch.no_grad():
        reference = loaded.hidden_states(loaded.base, TASK)
        hidden_of_branches(loaded, loaded.base, QUESTION, [[0] for _ in QUESTION], BranchOptions())
        assert loaded.base.config._attn_implementation == before
        assert torch.equal(loaded.hidden_states(loaded.base, TASK), reference)


def test_it_says_what_it_cannot_run(loaded: LoadedModel) -> None:
    model = loaded.base.model
    assert why_not_shared(model) is None
    model.rotary_emb.rope_type, before = "dynamic", model.rotary_emb.rope_type
    try:
        assert "dynamic" in str(why_not_shared(model))
    finally:
        model.rotary_emb.rope_type = before

"""What is common to all training: order, learning rate, the mean over tokens, and what is no step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch import nn

from palate_bridge.context import StageContext
from palate_bridge.errors import BadInput, JobError, NonFiniteLoss
from palate_bridge.optimizer import learning_rate
from palate_bridge.train_loop import Trained, Work, check_reach, plan_steps, train
from tests.stage_context import events_of, make_context
from tests.test_losses import CASES
from tests.training import OPTIMIZER, distil_task


class Scale(nn.Module):
    """One weight named as an adapter's; the loss of a token is the weight times its number."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Module()
        self.inner.lora_B = nn.Module()  # type: ignore[assignment]
        self.inner.lora_B.weight = nn.Parameter(torch.ones(1))


@dataclass(frozen=True)
class Tokens:
    label: str
    losses: list[float]

    @property
    def supervised(self) -> int:
        return len(self.losses)


def run(folder: Path, micro_batches: list[list[float]], **optimizer: object) -> tuple[Trained, float]:
    """One step over the micro-batches; what was reported, and the gradient that it led to."""
    task = distil_task(folder, optimizer=replace(OPTIMIZER, epochs=1, questions_per_step=99, **optimizer))
    module = Scale()
    context: StageContext = make_context(None, task)  # type: ignore[arg-type]
    examples = {f"q-{index}": [[Tokens(f"q-{index}", losses)]] for index, losses in enumerate(micro_batches)}

    def work(micro: list[Tokens]) -> Work:
        losses = [loss for example in micro for loss in example.losses]
        return Work((module.inner.lora_B.weight * torch.tensor(losses)).sum(), len(losses))

    trained = train(context, module, examples, work, lambda: None)
    return trained, events_of(Path(task.folder), "step")[-1]["grad_norm"]


def micro_batchings() -> Iterator[list[list[float]]]:
    case = json.loads((CASES / "16-accumulated-mean" / "token-losses.json").read_text("utf-8"))
    given: list[list[float]] = case["micro_batches"]
    flat = [loss for micro in given for loss in micro]
    yield from (given, [flat], [[loss] for loss in flat])


@pytest.mark.parametrize("micro_batches", list(micro_batchings()))
def test_a_step_is_the_mean_over_all_its_tokens_however_they_are_cut(
    micro_batches: list[list[float]], tmp_path: Path
) -> None:
    trained, gradient = run(tmp_path, micro_batches)
    assert trained.position.last_loss == pytest.approx(1.0, abs=1e-6)
    assert gradient == pytest.approx(1.0, abs=1e-6)
    [step] = events_of(tmp_path / "distil", "step")
    assert (step["supervised_tokens"], step["step"], step["total"]) == (10, 1, 1)


def test_a_step_without_a_token_to_train_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no token to train on"):
        run(tmp_path, [[], []])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_stops_the_run_by_name(bad: float, tmp_path: Path) -> None:
    with pytest.raises(NonFiniteLoss, match="step 1: the loss of q-"):
        run(tmp_path, [[1.0], [bad]])


def test_a_b_that_the_loss_cannot_see_is_named() -> None:
    module = Scale()
    with pytest.raises(JobError, match=r"inner\.lora_B\.weight has no gradient"):
        check_reach(module)
    module.inner.lora_B.weight.sum().backward()
    check_reach(module)


def test_the_order_depends_on_seed_and_epoch_and_not_on_the_order_given() -> None:
    ids = [f"q-{number}" for number in range(7)]
    steps = plan_steps(ids, OPTIMIZER, 3)
    assert steps == plan_steps(ids[::-1], OPTIMIZER, 3)
    assert steps != plan_steps(ids, OPTIMIZER, 4)
    assert [len(step) for step in steps] == [2, 2, 2, 1] * 2
    first, second = ([id for step in half for id in step] for half in (steps[:4], steps[4:]))
    assert sorted(first) == sorted(second) == ids
    assert first != second
    assert plan_steps(ids, replace(OPTIMIZER, max_steps=3), 3) == steps[:3]


def test_the_rate_rises_to_its_full_value_and_falls_by_half_a_cosine() -> None:
    recipe = replace(OPTIMIZER, learning_rate=1.0, warmup_ratio=0.2)
    rates = [learning_rate(recipe, step, 10) for step in range(10)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert rates[6] == pytest.approx(0.5)
    assert 0 < rates[9] < 0.05
    flat = replace(recipe, schedule="constant")
    assert [learning_rate(flat, step, 10) for step in range(10)] == [0.5] + [1.0] * 9

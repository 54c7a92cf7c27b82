"""The optimizer loop that distillation and calibration share: micro steps in, optimizer steps out.

One step = the examples of `questions_per_step` questions; a micro step is what goes through the model at
once, and the gradients of all are summed. The loss of a step is the sum of its token losses over the number
of its supervised tokens, all examples together: how they are cut into micro steps changes nothing but
rounding.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from palate_bridge.checkpoint import Position, resume, save_checkpoint
from palate_bridge.context import StageContext
from palate_bridge.errors import BadInput, Checkpointed, JobError, NonFiniteLoss
from palate_bridge.lora import trainable
from palate_bridge.optimizer import learning_rate, make_optimizer
from palate_bridge.protocol import Optimizer


class Example(Protocol):
    @property
    def supervised(self) -> int:
        """Tokens that have a loss."""
        ...

    @property
    def label(self) -> str:
        """For people, in error messages."""
        ...


E = TypeVar("E", bound=Example)


@dataclass(frozen=True)
class Work:
    """The summed token losses of a micro step, and how many tokens were run through the model for it."""

    loss_sum: Tensor
    tokens: int


@dataclass(frozen=True)
class Trained:
    """ids: the questions that some step has trained on, sorted."""

    position: Position
    ids: list[str]


@dataclass(frozen=True)
class StepFigures:
    loss: float
    grad_norm: float
    rate: float
    supervised: int
    tokens: int
    seconds: float


class StopAsked(Exception):
    """Inside a step: its gradients are dropped, and the state is that after the step before."""


def train(
    context: StageContext,
    module: nn.Module,
    questions: dict[str, list[list[E]]],
    work: Callable[[list[E]], Work],
    before_checkpoint: Callable[[], None],
) -> Trained:
    """Run all steps that are left, over the micro steps of each question. Raises Checkpointed, NonFiniteLoss,
    Fenced, and what before_checkpoint raises.
    """
    task: Any = context.task
    recipe: Optimizer = task.optimizer
    steps = plan_steps(sorted(questions), recipe, task.seed)
    optimizer = make_optimizer(module, recipe)
    position = resume(context.folder, module, optimizer)
    saved_at, begun, first = position.step, time.monotonic(), position.step
    context.events.emit(
        "stage_started", key=task.key, attempt=context.attempt, done=position.step, total=len(steps)
    )
    while position.step < len(steps):
        batch = [micro for id in steps[position.step] for micro in questions[id]]
        context.check_lease()
        rate = learning_rate(recipe, position.step, len(steps))
        try:
            figures = take_step(context, module, optimizer, batch, work, position.step, rate)
        except StopAsked:
            save_unless(saved_at == position.step, context, module, optimizer, position)
            raise Checkpointed(f"Stopped after step {position.step} of {len(steps)}.") from None
        position = advance(position, figures)
        report(
            context, figures, position.step, len(steps), (time.monotonic() - begun) / (position.step - first)
        )
        if position.step % context.execution.checkpoint_every_steps == 0 and position.step < len(steps):
            before_checkpoint()
            save_unless(False, context, module, optimizer, position)
            saved_at = position.step
    return Trained(position, sorted({id for step in steps for id in step}))


def plan_steps(ids: list[str], recipe: Optimizer, seed: int) -> list[list[str]]:
    """The question ids of each step. An epoch's order depends on seed, epoch and the ids, on nothing else."""
    steps: list[list[str]] = []
    for epoch in range(recipe.epochs):
        order = sorted(
            ids, key=lambda id, epoch=epoch: hashlib.sha256(f"{seed}:{epoch}:{id}".encode()).digest()
        )
        size = recipe.questions_per_step
        steps += [order[start : start + size] for start in range(0, len(order), size)]
    return steps[: recipe.max_steps]


def take_step(
    context: StageContext,
    module: nn.Module,
    optimizer: torch.optim.AdamW,
    batch: list[list[E]],
    work: Callable[[list[E]], Work],
    step: int,
    rate: float,
) -> StepFigures:
    started = time.monotonic()
    supervised = sum(example.supervised for micro in batch for example in micro)
    if supervised == 0:
        raise BadInput(f"step {step + 1} has no token to train on.")
    optimizer.zero_grad(set_to_none=True)
    loss, tokens = 0.0, 0
    for micro in batch:
        if context.stop_requested():
            raise StopAsked
        done = work(micro)
        part = done.loss_sum / supervised
        value = part.item()
        if not math.isfinite(value):
            raise NonFiniteLoss(f"step {step + 1}: the loss of {name_of(micro)} is {value}.", RETRY)
        part.backward()
        loss += value
        tokens += done.tokens
    if step == 0 and loss > 0:
        check_reach(module)
    norm = clip(module, context.task.optimizer.max_grad_norm, step)  # type: ignore[union-attr]
    set_rate(optimizer, rate)
    optimizer.step()
    return StepFigures(loss, norm, rate, supervised, tokens, time.monotonic() - started)


def name_of(micro: list[E]) -> str:
    others = f" and {len(micro) - 1} more" if len(micro) > 1 else ""
    return micro[0].label + others


RETRY = "Lower optimizer.learning_rate; the last checkpoint is kept."


def check_reach(module: nn.Module) -> None:
    """A loss above 0 moves every B; one without a gradient is in a layer that the loss cannot see."""
    for name, weight in trainable(module):
        if ".lora_B." in name and (weight.grad is None or not weight.grad.any()):
            raise JobError(f"{name} has no gradient after the first step.")


def clip(module: nn.Module, limit: float, step: int) -> float:
    """The gradient's norm before it is scaled down to the limit."""
    found = [weight for _, weight in trainable(module)]
    norm = float(torch.nn.utils.clip_grad_norm_(found, limit, foreach=False))
    if not math.isfinite(norm):
        raise NonFiniteLoss(f"step {step + 1}: the norm of the gradient is {norm}.", RETRY)
    return norm


def set_rate(optimizer: torch.optim.AdamW, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def advance(position: Position, figures: StepFigures) -> Position:
    first = figures.loss if position.first_loss is None else position.first_loss
    return Position(position.step + 1, first, figures.loss, position.supervised_tokens + figures.supervised)


def report(context: StageContext, figures: StepFigures, step: int, total: int, seconds_a_step: float) -> None:
    context.events.emit(
        "step",
        key=context.task.key,
        step=step,
        total=total,
        loss=figures.loss,
        grad_norm=figures.grad_norm,
        learning_rate=figures.rate,
        supervised_tokens=figures.supervised,
        tokens=figures.tokens,
        tokens_per_second=figures.tokens / max(figures.seconds, 1e-9),
        eta_seconds=seconds_a_step * (total - step),
    )


def save_unless(
    saved: bool, context: StageContext, module: nn.Module, optimizer: torch.optim.AdamW, position: Position
) -> None:
    if not saved:
        context.check_lease()
        save_checkpoint(context.folder, module, optimizer, position)
    context.events.emit("checkpointed", key=context.task.key, done=position.step)

"""What is minimised, free of models: hidden states or logits in, summed token losses out.

Directions by name, teacher T and student S, both at the loss temperature:
  forward          KL(T || S) = sum_v T (log T - log S)         covers all of what the teacher would say
  reverse          KL(S || T)
  jensen_shannon   (KL(T || M) + KL(S || M)) / 2 with M = (T + S) / 2
Softmax is taken in float32 (float64 stays float64) and everything is kept in log space: a bf16 difference of
two near-equal distributions is mostly rounding. With a temperature t both logits are divided by t and the
loss is multiplied by t^2, which keeps the size of the gradient (Hinton, Vinyals and Dean 2015, section 2).
Losses are sums; dividing by the number of supervised tokens of the whole optimizer step is the caller's part.
There is no top-k, no clipping and no gradient for the head.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor


class Head(Protocol):
    """hidden [R, H] -> logits [R, V], or only those of the given token ids."""

    def __call__(self, hidden: Tensor, columns: Sequence[int] | None = None) -> Tensor: ...


@dataclass(frozen=True)
class KlLoss:
    """letters: token ids of the two letters where only they count at the choice; None = whole vocabulary."""

    direction: str
    temperature: float
    chunk_positions: int
    letters: tuple[int, int] | None


def kl_sum(head: Head, student_TH: Tensor, teacher_TH: Tensor, choice: int | None, loss: KlLoss) -> Tensor:
    """Sum over positions of the KL between both sides' next-token distributions; a scalar.

    Row i of both sides speaks of the same completion token. `choice` is the row of the choice token. Logits
    exist for chunk_positions rows at a time, and only once.
    """
    rows = list(range(student_TH.shape[0]))
    total = student_TH.new_zeros((), dtype=accumulator(student_TH.dtype))
    if loss.letters is not None and choice is not None:
        rows.remove(choice)
        total = total + settled(
            head, student_TH[choice : choice + 1], teacher_TH[choice : choice + 1], loss, loss.letters
        )
    for start in range(0, len(rows), loss.chunk_positions):
        chunk = rows[start : start + loss.chunk_positions]
        total = total + settled(head, student_TH[chunk], teacher_TH[chunk], loss, None)
    return total


def settled(
    head: Head, student_TH: Tensor, teacher_TH: Tensor, loss: KlLoss, columns: Sequence[int] | None
) -> Tensor:
    """The loss of a chunk, its gradient taken at once, while the logits are there: what waits for the
    backward pass is [T, H], and no logits are computed twice. It can be differentiated once only.
    """

    def body(student: Tensor, teacher: Tensor) -> Tensor:
        with torch.no_grad():
            teacher_logits = head(teacher, columns)
        return token_kl(head(student, columns), teacher_logits, loss.direction, loss.temperature).sum()

    return Settled.apply(body, student_TH, teacher_TH)  # type: ignore[return-value]


class Settled(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, body: Callable[[Tensor, Tensor], Tensor], student: Tensor, teacher: Tensor
    ) -> Tensor:
        if not ctx.needs_input_grad[1]:
            return body(student, teacher)
        with torch.enable_grad():
            held = student.detach().requires_grad_()
            value = body(held, teacher)
            (gradient,) = torch.autograd.grad(value, held)
        ctx.save_for_backward(gradient)
        return value.detach()

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[None, Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return None, upstream[0].to(gradient.dtype) * gradient, None


def token_kl(student_TV: Tensor, teacher_TV: Tensor, direction: str, temperature: float = 1.0) -> Tensor:
    """KL of each position [T], from logits [T, V], times temperature^2."""
    student = log_probabilities(student_TV, temperature)
    teacher = log_probabilities(teacher_TV, temperature)
    return DIRECTIONS[direction](teacher, student) * temperature**2


def choice_loss_sum(
    head: Head, student_TH: Tensor, targets: Sequence[int], letters: tuple[int, int] | None
) -> Tensor:
    """Sum of -log p(target) at choice positions: over the whole vocabulary, or among the two letters only."""
    logits = head(student_TH, letters)
    columns = [letters.index(target) for target in targets] if letters else list(targets)
    chosen = log_probabilities(logits, 1.0)[torch.arange(len(columns)), columns]
    return -chosen.sum()


def log_probabilities(logits: Tensor, temperature: float) -> Tensor:
    return torch.log_softmax(logits.to(accumulator(logits.dtype)) / temperature, dim=-1)


def accumulator(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def forward_kl(teacher: Tensor, student: Tensor) -> Tensor:
    return (teacher.exp() * (teacher - student)).sum(-1)


def reverse_kl(teacher: Tensor, student: Tensor) -> Tensor:
    return forward_kl(student, teacher)


def jensen_shannon(teacher: Tensor, student: Tensor) -> Tensor:
    mixture = torch.logaddexp(teacher, student) - math.log(2)
    return (forward_kl(teacher, mixture) + forward_kl(student, mixture)) / 2


DIRECTIONS = {"forward": forward_kl, "reverse": reverse_kl, "jensen_shannon": jensen_shannon}

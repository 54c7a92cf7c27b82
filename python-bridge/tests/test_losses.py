"""Losses against numbers worked out by hand or by others, and against themselves in another form."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from palate_bridge.losses import DIRECTIONS, KlLoss, choice_loss_sum, kl_sum, token_kl
from palate_bridge.positions import foretelling

CASES = Path(__file__).parents[2] / "test" / "fixtures" / "cases"

TEACHER = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64)
STUDENT = torch.tensor([[0.2, 0.2, 0.6]], dtype=torch.float64)
FORWARD = 0.5 * math.log(0.5 / 0.2) + 0.3 * math.log(0.3 / 0.2) + 0.2 * math.log(0.2 / 0.6)
REVERSE = 0.2 * math.log(0.2 / 0.5) + 0.2 * math.log(0.2 / 0.3) + 0.6 * math.log(0.6 / 0.2)
MIDDLE = [0.35, 0.25, 0.4]
JENSEN_SHANNON = 0.5 * sum(
    p * math.log(p / m) + q * math.log(q / m)
    for p, q, m in zip([0.5, 0.3, 0.2], [0.2, 0.2, 0.6], MIDDLE, strict=True)
)


class Matrix:
    """A head without a model."""

    def __init__(self, weight_HV: Tensor) -> None:
        self.weight_HV = weight_HV
        self.rows: list[int] = []

    def __call__(self, hidden: Tensor, columns: Sequence[int] | None = None) -> Tensor:
        self.rows.append(hidden.shape[0])
        return hidden @ (self.weight_HV if columns is None else self.weight_HV[:, list(columns)])


def random_case(rows: int = 7, dtype: torch.dtype = torch.float64) -> tuple[Matrix, Tensor, Tensor]:
    random = torch.Generator().manual_seed(3)
    head = Matrix(torch.randn(4, 11, generator=random, dtype=dtype))
    student, teacher = (torch.randn(rows, 4, generator=random, dtype=dtype) for _ in range(2))
    return head, student.requires_grad_(), teacher


@pytest.mark.parametrize(
    ("direction", "wanted"), [("forward", FORWARD), ("reverse", REVERSE), ("jensen_shannon", JENSEN_SHANNON)]
)
def test_three_tokens_give_the_sum_written_out(direction: str, wanted: float) -> None:
    assert token_kl(STUDENT.log(), TEACHER.log(), direction).item() == pytest.approx(wanted, abs=1e-12)


def test_the_gradient_of_forward_kl_is_student_minus_teacher() -> None:
    logits = STUDENT.log().requires_grad_()
    token_kl(logits, TEACHER.log(), "forward").sum().backward()
    assert torch.allclose(logits.grad, STUDENT - TEACHER, atol=1e-12)


def test_a_temperature_divides_both_sides_and_scales_by_its_square() -> None:
    at_two = token_kl(STUDENT.log(), TEACHER.log(), "forward", 2.0)
    softened = [torch.softmax(side.log() / 2, -1).log() for side in (STUDENT, TEACHER)]
    assert at_two.item() == pytest.approx(4 * token_kl(*softened, "forward").item(), abs=1e-12)


@pytest.mark.parametrize("direction", sorted(DIRECTIONS))
def test_equal_sides_give_zero_and_no_gradient(direction: str) -> None:
    logits = torch.randn(5, 9, generator=torch.Generator().manual_seed(1)).requires_grad_()
    loss = token_kl(logits, logits.detach().clone(), direction)
    assert torch.equal(loss, torch.zeros(5))
    loss.sum().backward()
    assert logits.grad.abs().max() < 1e-7


@pytest.mark.parametrize("direction", sorted(DIRECTIONS))
def test_losses_are_taken_in_float32_whatever_comes_in(direction: str) -> None:
    logits = torch.randn(2, 9).bfloat16()
    assert token_kl(logits, logits, direction).dtype == torch.float32


@pytest.mark.parametrize("direction", sorted(DIRECTIONS))
@pytest.mark.parametrize("letters", [None, (2, 5)])
def test_the_chunked_sum_has_the_gradient_that_differences_show(
    direction: str, letters: tuple[int, int] | None
) -> None:
    head, student, teacher = random_case()
    loss = KlLoss(direction, 1.5, 3, letters)
    assert torch.autograd.gradcheck(lambda hidden: kl_sum(head, hidden, teacher, 4, loss), [student])


@pytest.mark.parametrize("direction", sorted(DIRECTIONS))
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 50])
def test_chunks_change_neither_the_value_nor_the_gradient(direction: str, chunk: int) -> None:
    head, student, teacher = random_case()
    whole = token_kl(head(student), head(teacher), direction, 0.7).sum()
    [wanted] = torch.autograd.grad(whole, [student])
    chunked = kl_sum(head, student, teacher, None, KlLoss(direction, 0.7, chunk, None))
    [found] = torch.autograd.grad(chunked, [student])
    assert chunked.item() == pytest.approx(whole.item(), abs=1e-12)
    assert torch.allclose(found, wanted, atol=1e-12)


def test_no_more_rows_of_logits_exist_at_once_than_the_chunk() -> None:
    head, student, teacher = random_case()
    kl_sum(head, student, teacher, None, KlLoss("forward", 1.0, 3, None)).backward()
    assert max(head.rows) == 3


def test_a_frozen_head_gets_no_gradient() -> None:
    head, student, teacher = random_case()
    kl_sum(head, student, teacher, None, KlLoss("forward", 1.0, 3, None)).backward()
    assert head.weight_HV.grad is None
    assert student.grad is not None


def test_at_the_choice_only_the_two_letters_count_when_asked() -> None:
    head, student, teacher = random_case()
    found = kl_sum(head, student, teacher, 4, KlLoss("forward", 1.0, 3, (2, 5)))
    others = [row for row in range(7) if row != 4]
    rest = token_kl(head(student[others]), head(teacher[others]), "forward").sum()
    p, q = (torch.softmax(head(side[4:5], (2, 5)), -1)[0] for side in (teacher, student))
    choice = sum(p[i] * (p[i] / q[i]).log() for i in range(2))
    assert found.item() == pytest.approx((rest + choice).item(), abs=1e-12)


def test_calibration_is_the_cross_entropy_of_the_supported_letter() -> None:
    head, student, _ = random_case(1)
    full = torch.softmax(head(student), -1)[0, 5]
    assert choice_loss_sum(head, student, [5], None).item() == pytest.approx(
        -math.log(full.item()), abs=1e-12
    )
    two = torch.softmax(head(student, (2, 5)), -1)[0, 1]
    assert choice_loss_sum(head, student, [5], (2, 5)).item() == pytest.approx(
        -math.log(two.item()), abs=1e-12
    )


def test_teacher_and_student_are_compared_at_the_reply_whatever_their_prompts_length() -> None:
    case = json.loads((CASES / "14-kl-alignment" / "case.json").read_text("utf-8"))
    rows = list(range(3))
    student, teacher = (
        torch.tensor(case[side]["logits"], dtype=torch.float64)[
            foretelling(len(case[side]["prompt_ids"]), rows)
        ]
        for side in ("student", "teacher")
    )
    forward = token_kl(student, teacher, "forward")
    reverse = token_kl(student, teacher, "reverse")
    assert forward.tolist() == pytest.approx([0.565782, 0.853084, 0.325956], abs=1e-6)
    assert reverse.tolist() == pytest.approx([0.619553, 0.912370, 0.542169], abs=1e-6)
    assert forward.mean().item() == pytest.approx(0.581607, abs=1e-6)
    assert reverse.mean().item() == pytest.approx(0.691364, abs=1e-6)
    reply = torch.tensor(case["student"]["response_ids"])
    said = torch.log_softmax(student, -1)[rows, reply]
    assert said.tolist() == pytest.approx([-1.707581, -0.783167, -1.917166], abs=1e-6)

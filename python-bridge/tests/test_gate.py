"""What a teacher trace may not be."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from palate_bridge.gate import QUOTE_TOKENS, gate, longest_copy, longest_suffixes
from palate_bridge.prompts_file import Presentation
from palate_bridge.records import Record

QUESTION = [1, 2, 3, 4, 5, 6, 7, 8]
DEMONSTRATION = [20, 21, 22, 23, 24, 3, 4, 5, 25]

PRESENTATION = Presentation("q", "published", "A", QUESTION, [9, *QUESTION], DEMONSTRATION, "", "", False)
GOOD = Record(
    question_id="q",
    order="published",
    sample=0,
    checkpoint="teacher",
    adapter_sha256=None,
    text="ANSWER: A",
    completion_ids=[50, 51, 52, 53],
    finish_reason="stop",
    forced_close=False,
    forced_start=None,
    choice_index=2,
    letter_mass=0.9,
    letter_share=0.9,
    letter="A",
    prompt_tokens=9,
    prompt_opens_thinking=False,
)


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (GOOD, None),
        (replace(GOOD, letter=None, choice_index=None), "no_answer"),
        (replace(GOOD, letter="B"), "opposed_choice"),
        (replace(GOOD, completion_ids=[50, 20, 21, 22, 23, 51]), "copied_demonstration"),
        (replace(GOOD, completion_ids=[50, 20, 21, 22, 51, 23, 24]), None),
        (replace(GOOD, choice_index=None), "no_choice_position"),
    ],
)
def test_each_fault_has_its_reason(trace: Record, reason: str | None) -> None:
    assert gate(trace, PRESENTATION, 4) == reason


def test_a_run_that_the_question_has_too_is_no_copy() -> None:
    assert longest_copy([3, 4, 5], PRESENTATION) == 3
    assert longest_copy([24, 3, 4, 5, 25], PRESENTATION) == 5
    assert longest_copy([], PRESENTATION) == 0


def test_the_longest_copy_is_that_of_a_search_through_all_runs() -> None:
    rng = random.Random(5)
    for _ in range(300):
        completion, shown, asked = ([rng.randrange(3) for _ in range(rng.randrange(14))] for _ in range(3))
        presentation = replace(PRESENTATION, demonstration_ids=shown, student_ids=asked)
        spans = [(i, j) for i in range(len(completion)) for j in range(i + 1, len(completion) + 1)]
        quotes = [(i, j) for i, j in spans if j - i >= QUOTE_TOKENS and occurs(completion[i:j], asked)]
        quoted = {index for i, j in quotes for index in range(i, j)}
        copied = [len(set(range(i, j)) - quoted) for i, j in spans if occurs(completion[i:j], shown)]
        assert longest_copy(completion, presentation) == max(copied, default=0)


def test_a_quotation_of_the_question_with_one_more_token_is_not_a_copy() -> None:
    presentation = replace(PRESENTATION, demonstration_ids=[*QUESTION, 30], student_ids=QUESTION)
    assert longest_copy([*QUESTION, 30], presentation) == 1


def test_a_long_prompt_of_one_repeated_token_takes_linear_time() -> None:
    assert longest_suffixes([1] * 2_000, [1] * 60_000)[-1] == 2_000


def occurs(run: list[int], source: list[int]) -> bool:
    return any(source[at : at + len(run)] == run for at in range(len(source) - len(run) + 1))

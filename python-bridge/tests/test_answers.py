"""The strict protocol, on the replies that the TypeScript reading answers for too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palate_bridge.answers import read_answer

CASES = Path(__file__).parents[2] / "test/fixtures/cases"


def lines(case: str) -> list[tuple[dict, dict]]:
    files = [CASES / case / name for name in ("replies.jsonl", "expected.jsonl")]
    replies, expected = (
        [json.loads(line) for line in file.read_text("utf-8").splitlines()] for file in files
    )
    return list(zip(replies, expected, strict=True))


@pytest.mark.parametrize(("reply", "expected"), lines("17-answer-lines"))
def test_only_the_bare_letter_and_the_last_answer_line_count(reply: dict, expected: dict) -> None:
    answer = read_answer(reply["text"], "stop", False)
    assert (answer.letter, answer.tolerant) == (expected["strict"], expected["tolerant"])
    assert (answer.reason is None) == (answer.letter is not None)


@pytest.mark.parametrize(("reply", "expected"), lines("18-thinking-not-closed"))
def test_no_answer_is_taken_from_thinking(reply: dict, expected: dict) -> None:
    answer = read_answer(reply["text"], reply["finish_reason"], reply["prompt_opens_thinking"])
    assert (answer.letter, answer.reason) == (expected["answer"], expected["reason"])


@pytest.mark.parametrize(
    "text", ["an\u017fwer: B", "ANSWER\uff1a B", "ANSWER:\u2003B", "ANSWER: B\x1c", "ANSWER: \u0392"]
)
def test_letters_and_spaces_of_other_scripts_are_not_the_form(text: str) -> None:
    assert read_answer(text, "stop", False).letter is None


@pytest.mark.parametrize(
    ("text", "finish_reason", "reason"),
    [
        ("The log", "length", "cut at the token limit"),
        (" \n", "stop", "empty reply"),
        ("Either.", "stop", "no bare letter and no last line ANSWER: A or B"),
    ],
)
def test_a_reply_without_a_letter_says_why(text: str, finish_reason: str, reason: str) -> None:
    assert read_answer(text, finish_reason, False).reason == reason

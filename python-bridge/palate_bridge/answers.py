"""What a reply says, read by the strict protocol; twin of orchestrator/scoring/answer.ts and thinking.ts.

Both sides read the replies of test/fixtures/cases/17-answer-lines and 18-thinking-not-closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Letter = Literal["A", "B"]

OPEN = "<think>"
CLOSE = "</think>"
FORM = "ANSWER:"

# JavaScript's white space, written out: Python's own set is another one.
SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
ANY_CASE = re.IGNORECASE | re.ASCII
BARE_LETTER = re.compile(r"([AB])", ANY_CASE)
ANSWER_LINE = re.compile(r"ANSWER:[ \t]*([AB])", ANY_CASE)
DECORATION = re.compile(r"[*_`$\"'()\[\]{}\\]")
DRESSED_LETTER = re.compile(r"([AB])[.]?", ANY_CASE)
DRESSED_LINE = re.compile(rf"[#>\-{SPACE}]*ANSWER[{SPACE}]*:[{SPACE}]*", ANY_CASE)
SOLE_LETTER = re.compile(rf"([AB])(?:[{SPACE}]*$|[{SPACE}]*[^\w{SPACE}][^\n\r\u2028\u2029]*$)", ANY_CASE)
ANOTHER_LETTER = re.compile(
    rf"\b[A-HJ-Z]\b|(?:\bor\b|\band\b|[,/&+|])[{SPACE}]*[ab][{SPACE}]*(?:[^\w{SPACE}]|$)", re.ASCII
)


@dataclass(frozen=True)
class Answer:
    """letter: what counts. tolerant: found through decoration, no score. reason: why there is no letter."""

    letter: Letter | None
    tolerant: Letter | None
    reason: str | None


def read_answer(text: str, finish_reason: str, prompt_opens_thinking: bool) -> Answer:
    """A bare letter, or a last line `ANSWER: X`, in any case; only what follows the thinking is read."""
    if thinking_is_open(text, prompt_opens_thinking):
        return Answer(None, None, "thinking not closed")
    visible = after_thinking(text)
    if CLOSE in text and visible.strip(SPACE) == "":
        return Answer(None, None, "nothing after thinking")
    letter = strict_letter(visible)
    reason = None if letter else no_answer_reason(visible, finish_reason)
    return Answer(letter, tolerant_letter(visible), reason)


def thinking_is_open(text: str, prompt_opens_thinking: bool) -> bool:
    """A prompt that opens the block counts as an opening mark before the reply."""
    opened, closed = text.rfind(OPEN), text.rfind(CLOSE)
    return opened > closed or (prompt_opens_thinking and closed < 0)


def after_thinking(text: str) -> str:
    return text.rpartition(CLOSE)[2]


def strict_letter(visible: str) -> Letter | None:
    lines = written_lines(visible)
    if not lines:
        return None
    bare = BARE_LETTER.fullmatch(lines[0]) if len(lines) == 1 else None
    found = bare or ANSWER_LINE.fullmatch(lines[-1])
    return as_letter(found[1]) if found else None


def tolerant_letter(visible: str) -> Letter | None:
    """Looks through decoration and trailing text on the last ANSWER line; two letters on it are no answer."""
    plain = [DECORATION.sub("", line).strip(SPACE) for line in written_lines(visible)]
    bare = DRESSED_LETTER.fullmatch(plain[0]) if len(plain) == 1 else None
    if bare:
        return as_letter(bare[1])
    stated = [line[form.end() :] for line in plain if (form := DRESSED_LINE.match(line))]
    found = SOLE_LETTER.match(stated[-1]) if stated else None
    if found is None or ANOTHER_LETTER.search(stated[-1][1:]):
        return None
    return as_letter(found[1])


def as_letter(found: str) -> Letter:
    return "A" if found in ("A", "a") else "B"


def no_answer_reason(visible: str, finish_reason: str) -> str:
    if finish_reason == "length":
        return "cut at the token limit"
    if not written_lines(visible):
        return "empty reply"
    return "no bare letter and no last line ANSWER: A or B"


def written_lines(text: str) -> list[str]:
    return [line for raw in text.split("\n") if (line := raw.strip(SPACE))]

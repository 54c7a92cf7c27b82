"""One reply and everything that is kept of it: a line of records.jsonl, a row of traces.arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from palate_bridge.answers import Letter
from palate_bridge.protocol import Count, Hex
from palate_bridge.strict import at_least, at_most

Probability = Annotated[float, at_least(0), at_most(1)]
FinishReason = Literal["stop", "length", "choice"]
Checkpoint = Literal["teacher", "student", "base", "distilled", "calibrated"]
Key = tuple[str, str, int]


@dataclass(frozen=True)
class Record:
    """forced_start: completion_ids[forced_start:] were not sampled, but for the choice token after them.

    letter_mass is the probability of the two letters together at the choice, letter_share the supported
    letter's part of it; both are null where the reply has no choice. letter is the strict reading.
    """

    question_id: str
    order: Literal["published", "reversed"]
    sample: Count
    checkpoint: Checkpoint
    adapter_sha256: Hex | None
    text: str
    completion_ids: list[Count]
    finish_reason: FinishReason
    forced_close: bool
    forced_start: Count | None
    choice_index: Count | None
    letter_mass: Probability | None
    letter_share: Probability | None
    letter: Letter | None
    prompt_tokens: Count
    prompt_opens_thinking: bool

    @property
    def key(self) -> Key:
        return (self.question_id, self.order, self.sample)


@dataclass(frozen=True)
class Trace(Record):
    """A reply that was judged for training."""

    accepted: bool
    reject_reason: str | None

"""One reply, token by token over a KV cache: the reference form, one sequence at a time, no padding."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from palate_bridge import tokens
from palate_bridge.answers import CLOSE, FORM, Letter, read_answer, thinking_is_open
from palate_bridge.errors import BadInput, Checkpointed
from palate_bridge.model import LoadedModel, forward
from palate_bridge.protocol import Decode
from palate_bridge.records import FinishReason
from palate_bridge.sampling import next_token
from palate_bridge.tokens import ChoiceTokens, assert_choice, find_choice


@dataclass(frozen=True)
class Writer:
    """What is the same for all replies of a stage."""

    loaded: LoadedModel
    module: nn.Module
    decode: Decode
    choice: ChoiceTokens
    eos: frozenset[int]
    stop_requested: Callable[[], bool]


@dataclass(frozen=True)
class Reply:
    """letter_mass: probability of both letters at the choice. share_of_a: A's part of it."""

    completion_ids: list[int]
    text: str
    finish_reason: FinishReason
    forced_start: int | None
    choice_index: int | None
    letter_mass: float | None
    share_of_a: float | None
    letter: Letter | None


@dataclass(frozen=True)
class Odds:
    """Logits of the two letters and log of the whole vocabulary's sum of exponentials, at one position."""

    a: float
    b: float
    total: float

    @property
    def mass(self) -> float:
        return min(1.0, math.exp(self.a - self.total) + math.exp(self.b - self.total))

    @property
    def share_of_a(self) -> float:
        return sigmoid(self.a - self.b)


@dataclass
class Draft:
    """ids: prompt, then reply. fed: how many of them the cache holds. odds: by position in the reply."""

    ids: list[int]
    prompt_length: int
    fed: int = 0
    cache: Any | None = None
    odds: dict[int, Odds] = field(default_factory=dict)

    @property
    def completion_ids(self) -> list[int]:
        return self.ids[self.prompt_length :]


def reply(writer: Writer, prompt_ids: list[int], prompt_opens_thinking: bool, rng: torch.Generator) -> Reply:
    """Write until an end mark; after max_reasoning_tokens sampled tokens without one, force the choice.

    The close, by the state the reply is in:
      thinking open            `\\n</think>\\n\\nANSWER:`
      nothing written yet, or a line just ended          `ANSWER:`
      last line is `ANSWER:`   nothing is added
      last line is the whole answer line    no choice is forced: the reply ends as it is, with `length`
      anything else            `\\n\\nANSWER:`
    then one token. `letters` takes the likelier letter, or draws between the two at the sampling temperature;
    `vocabulary` takes the next token like any other. Forced ids are appended, never re-encoded with the text.
    Raises Checkpointed when asked to stop; a reply is written again from its start.
    """
    draft = Draft(list(prompt_ids), len(prompt_ids))
    with torch.no_grad():
        if write(writer, draft, rng):
            return finish(writer, draft, prompt_opens_thinking, "stop", None)
        forced = closing_ids(writer, draft.completion_ids, prompt_opens_thinking)
        if forced is None:
            return finish(writer, draft, prompt_opens_thinking, "length", None)
        forced_start = len(draft.completion_ids)
        draft.ids.extend(forced)
        force_choice(writer, draft, rng)
    return finish(writer, draft, prompt_opens_thinking, "choice", forced_start)


def write(writer: Writer, draft: Draft, rng: torch.Generator) -> bool:
    """Sample up to the reasoning cap; true when the reply ended by itself."""
    for _ in range(writer.decode.max_reasoning_tokens):
        logits_V = look(writer, draft)
        token = next_token(logits_V, draft.ids, writer.decode, rng)
        draft.ids.append(token)
        if token in writer.eos:
            return True
    return False


def look(writer: Writer, draft: Draft) -> Tensor:
    """Logits [V] in fp32 after the last id; the letters' odds there are kept with the draft."""
    if writer.stop_requested():
        raise Checkpointed("asked to stop while writing replies")
    pending = torch.tensor([draft.ids[draft.fed :]], device=writer.loaded.device)
    wants_more = writer.decode.max_reasoning_tokens > 0
    seen = forward(writer.module, pending, draft.cache, use_cache=wants_more)
    draft.fed, draft.cache = len(draft.ids), seen.cache
    hidden_H = seen.hidden[0, -1]
    logits_V = writer.loaded.lm_head(hidden_H)
    at = len(draft.completion_ids)
    draft.odds[at] = letter_odds(writer, hidden_H, logits_V)
    if not math.isfinite(draft.odds[at].total):
        raise BadInput(
            f"the model's logits are not finite at token {at} of a reply",
            "The adapter has diverged, or the dtype is too narrow for this model.",
        )
    return logits_V


def letter_odds(writer: Writer, hidden_H: Tensor, logits_V: Tensor) -> Odds:
    """The letters' logits are taken again in fp32: in bfloat16 near ones tie, and a tie would always be A."""
    letters = [writer.choice.letter_a, writer.choice.letter_b]
    rows_2H = writer.loaded.base.lm_head.weight[letters].float()
    a, b, total = torch.cat([rows_2H @ hidden_H.float(), logits_V.logsumexp(-1)[None]]).tolist()
    return Odds(a, b, total)


def closing_ids(writer: Writer, completion_ids: list[int], opens_thinking: bool) -> tuple[int, ...] | None:
    text = tokens.decode(writer.loaded.tokenizer, completion_ids)
    if thinking_is_open(text, opens_thinking):
        return writer.choice.after_open_thinking
    if find_choice(writer.loaded.tokenizer, completion_ids) is not None:
        return None
    last_line = text.rpartition("\n")[2].rpartition(CLOSE)[2]
    if last_line == FORM:
        return ()
    return writer.choice.after_nothing if text == "" or text.endswith("\n") else writer.choice.after_text


def force_choice(writer: Writer, draft: Draft, rng: torch.Generator) -> None:
    logits_V = look(writer, draft)
    if writer.decode.choice == "vocabulary":
        draft.ids.append(next_token(logits_V, draft.ids, writer.decode, rng))
        return
    odds = draft.odds[len(draft.completion_ids)]
    letter = draw_letter(odds.a - odds.b, writer.decode.temperature, rng)
    draft.ids.append(writer.choice.letter_id(letter))
    at = len(draft.completion_ids) - 1
    assert_choice(writer.loaded.tokenizer, draft.completion_ids, at, letter)


def draw_letter(lead_of_a: float, temperature: float, rng: torch.Generator) -> str:
    if temperature == 0:
        return "A" if lead_of_a >= 0 else "B"
    drawn = torch.rand(1, generator=rng, dtype=torch.float64).item()
    return "A" if drawn < sigmoid(lead_of_a / temperature) else "B"


def finish(
    writer: Writer,
    draft: Draft,
    opens_thinking: bool,
    finish_reason: FinishReason,
    forced_start: int | None,
) -> Reply:
    completion_ids = draft.completion_ids
    text = tokens.decode(writer.loaded.tokenizer, completion_ids)
    letter = read_answer(text, finish_reason, opens_thinking).letter
    choice_index = find_choice(writer.loaded.tokenizer, completion_ids) if letter else None
    # A choice forced over the vocabulary is measured also where it was no letter: that is the figure's use.
    measured = choice_index if forced_start is None else len(completion_ids) - 1
    odds = None if measured is None else draft.odds[measured]
    return Reply(
        completion_ids=completion_ids,
        text=text,
        finish_reason=finish_reason,
        forced_start=forced_start,
        choice_index=choice_index,
        letter_mass=odds.mass if odds else None,
        share_of_a=odds.share_of_a if odds else None,
        letter=letter,
    )


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))

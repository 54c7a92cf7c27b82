"""Which token ids the choice is made of, found and proven in context by decoding."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from transformers import PreTrainedTokenizerBase

from palate_bridge.answers import CLOSE, FORM, OPEN, SPACE, after_thinking, strict_letter
from palate_bridge.errors import BadInput
from palate_bridge.prompts_file import Presentation

AFTER_NOTHING = FORM
AFTER_TEXT = f"\n\n{FORM}"
AFTER_OPEN_THINKING = f"\n{CLOSE}\n\n{FORM}"
CONTEXTS = ("", "\n", "\n\n", f"{CLOSE}\n\n", ".\n\n")
END_MARKS = ("<|im_end|>", "<|endoftext|>")


@dataclass(frozen=True)
class ChoiceTokens:
    """The ids forced before a choice, for each state a reply can be cut in, and the two letters after it."""

    after_nothing: tuple[int, ...]
    after_text: tuple[int, ...]
    after_open_thinking: tuple[int, ...]
    letter_a: int
    letter_b: int

    def letter_id(self, letter: str) -> int:
        return {"A": self.letter_a, "B": self.letter_b}[letter]


def choice_tokens(tokenizer: PreTrainedTokenizerBase) -> ChoiceTokens:
    """Proves that ' A' and ' B' are one token each after `ANSWER:`, wherever the answer line may stand."""
    letter_a, letter_b = letter_after(tokenizer, "A"), letter_after(tokenizer, "B")
    return ChoiceTokens(
        after_nothing=whole_text(tokenizer, AFTER_NOTHING),
        after_text=whole_text(tokenizer, AFTER_TEXT),
        after_open_thinking=whole_text(tokenizer, AFTER_OPEN_THINKING),
        letter_a=letter_a,
        letter_b=letter_b,
    )


def letter_after(tokenizer: PreTrainedTokenizerBase, letter: str) -> int:
    """The one id that continues `ANSWER:`, in every context and before whatever stands there, with ` X`."""
    found = set()
    for context in CONTEXTS:
        start = encode(tokenizer, f"{context}{FORM}")
        whole = encode(tokenizer, f"{context}{FORM} {letter}")
        if whole[:-1] != start:
            raise BadInput(
                f"the tokenizer does not write {FORM + ' ' + letter!r} after {context!r} as {FORM!r} and one"
                f" more token: {whole} against {start}",
                "Use a model whose tokenizer has ' A' and ' B' as single tokens.",
            )
        found.add(whole[-1])
    if len(found) != 1:
        raise BadInput(f"{letter!r} after {FORM!r} is another token in another context: {sorted(found)}")
    return found.pop()


def whole_text(tokenizer: PreTrainedTokenizerBase, text: str) -> tuple[int, ...]:
    ids = encode(tokenizer, text)
    if decode(tokenizer, ids) != text:
        raise BadInput(f"the tokenizer does not give {text!r} back: {decode(tokenizer, ids)!r}")
    return tuple(ids)


def find_choice(tokenizer: PreTrainedTokenizerBase, completion_ids: Sequence[int]) -> int | None:
    """Position of the letter token of the final answer line; None where the reply has none in the exact form.

    `answer: b`, `ANSWER:B` and a bare `B` count as answers, but their letter is another token than the one
    that is trained and measured, so they have no choice position.
    """
    for index in range(len(completion_ids) - 1, -1, -1):
        said = decode(tokenizer, [completion_ids[index]]).strip(SPACE)
        if said:
            return index if said in ("A", "B") and is_choice(tokenizer, completion_ids, index) else None
    return None


def is_choice(tokenizer: PreTrainedTokenizerBase, completion_ids: Sequence[int], index: int) -> bool:
    before = decode(tokenizer, completion_ids[:index])
    upto = decode(tokenizer, completion_ids[: index + 1])
    whole = after_thinking(decode(tokenizer, completion_ids))
    return (
        before.rpartition("\n")[2].rpartition(CLOSE)[2].lstrip(SPACE) == FORM
        and upto in (f"{before} A", f"{before} B")
        and strict_letter(whole) == upto[-1]
    )


def assert_choice(
    tokenizer: PreTrainedTokenizerBase, completion_ids: Sequence[int], choice_index: int, letter: str
) -> None:
    """Raises BadInput unless the token there is the letter of the reply's final answer line."""
    if find_choice(tokenizer, completion_ids) == choice_index:
        said = decode(tokenizer, [completion_ids[choice_index]]).strip(SPACE)
        if said == letter:
            return
    tail = decode(tokenizer, completion_ids[max(0, choice_index - 8) : choice_index + 4])
    raise BadInput(
        f"token {choice_index} of a trace is not the letter {letter!r} of its answer line: ...{tail!r}",
        "The traces were written with another tokenizer: generate them again.",
    )


def encode(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def decode(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """The text without special tokens. Thinking marks stay also where a tokenizer calls them special."""
    hidden = special_ids(tokenizer)
    kept = [id for id in ids if id not in hidden]
    return str(tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False))


@lru_cache(maxsize=4)
def special_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    added = tokenizer.added_tokens_decoder.items()
    return frozenset(id for id, token in added if token.special and token.content not in (OPEN, CLOSE))


def eos_ids(model: Any, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Every id that ends a reply: of the model's configurations, the tokenizer, and ChatML's end marks."""
    text_config = getattr(model.config, "get_text_config", lambda: model.config)()
    found: set[int] = set()
    for config in (getattr(model, "generation_config", None), model.config, text_config):
        found.update(as_ids(getattr(config, "eos_token_id", None)))
    found.update(as_ids(tokenizer.eos_token_id))
    added = tokenizer.added_tokens_decoder.items()
    found.update(id for id, token in added if token.special and token.content in END_MARKS)
    if not found:
        raise BadInput("neither the model nor its tokenizer names an end mark; no reply would ever end.")
    return frozenset(found)


def as_ids(value: Any) -> Collection[int]:
    """transformers has one id, a list of ids, or None."""
    if value is None:
        return ()
    return (value,) if isinstance(value, int) else value


def check_parity(
    tokenizer: PreTrainedTokenizerBase, presentations: Iterable[Presentation], n: int = 16
) -> int:
    """Python's ids of the first n comparable prompts equal the ids that Node sent; how many were compared.

    Node encodes a question's own text as plain text, also where it names a special token. Encoding the
    rendered prompt whole cannot do that, so one that names more added tokens than it holds is passed over.
    """
    added = {id: token.content for id, token in tokenizer.added_tokens_decoder.items()}
    longest_first = sorted(added.values(), key=len, reverse=True)
    marks = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
    compared = 0
    for presentation in presentations:
        if compared == n:
            break
        sides = (
            ("student", presentation.student_text, presentation.student_ids),
            ("teacher", presentation.teacher_text, presentation.teacher_ids),
        )
        if any(len(marks.findall(text)) > sum(id in added for id in ids) for _, text, ids in sides):
            continue
        for side, text, ids in sides:
            check_same_ids(presentation, side, encode(tokenizer, text), ids)
        compared += 1
    return compared


def check_same_ids(presentation: Presentation, side: str, here: Sequence[int], sent: Sequence[int]) -> None:
    if list(here) == list(sent):
        return
    pairs = enumerate(zip(here, sent, strict=False))
    first = next((at for at, (mine, its) in pairs if mine != its), min(len(here), len(sent)))
    raise BadInput(
        f"question {presentation.question_id} ({presentation.order}), {side} prompt: token {first} is"
        f" {id_at(here, first)} here and {id_at(sent, first)} in the prompts file",
        "Node and Python read different tokenizers: resolve the model again and rebuild the prompts.",
    )


def id_at(ids: Sequence[int], index: int) -> str:
    return str(ids[index]) if index < len(ids) else "absent"

"""Replies of tiny models for tests, also ones that write a given text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch

from palate_bridge.decode import Reply, Writer, reply
from palate_bridge.model import LoadedModel
from palate_bridge.protocol import Decode
from palate_bridge.sampling import reply_rng
from palate_bridge.tokens import choice_tokens, encode, eos_ids
from tests.test_sampling import PLAIN

GREEDY = replace(PLAIN, temperature=0.0, max_reasoning_tokens=12)
SAMPLED = replace(
    PLAIN, temperature=1.0, max_reasoning_tokens=12, top_p=0.95, top_k=50, repetition_penalty=1.2
)
PROMPT = "<|im_start|>user\nRead the log or change the code?<|im_end|>\n<|im_start|>assistant\n"


def writer(loaded: LoadedModel, rule: Decode = GREEDY, eos: frozenset[int] | None = None) -> Writer:
    return Writer(
        loaded=loaded,
        module=loaded.base,
        decode=rule,
        choice=choice_tokens(loaded.tokenizer),
        eos=eos_ids(loaded.base, loaded.tokenizer) if eos is None else eos,
        stop_requested=lambda: False,
    )


def answer(loaded: LoadedModel, rule: Decode = GREEDY, opens_thinking: bool = False) -> Reply:
    prompt = encode(loaded.tokenizer, PROMPT)
    return reply(writer(loaded, rule), prompt, opens_thinking, reply_rng(7, "q", "published", 0))


def whole_logits(loaded: LoadedModel, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return loaded.base(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()


@contextmanager
def script(loaded: LoadedModel, text: str) -> Iterator[None]:
    """The head is biased by position, so that the model writes the ids of a text whatever it reads."""
    wanted = iter(encode(loaded.tokenizer, text))

    def push(_module: torch.nn.Module, _inputs: object, logits: torch.Tensor) -> torch.Tensor:
        token = next(wanted, None)
        return logits if token is None else logits.index_fill(-1, torch.tensor(token), 100.0)

    handle = loaded.base.lm_head.register_forward_hook(push)
    try:
        yield
    finally:
        handle.remove()


def written(loaded: LoadedModel, text: str, opens_thinking: bool = False, cap: int | None = None) -> Reply:
    """A reply in which the model writes `text`; at the end of it the cap is reached."""
    length = len(encode(loaded.tokenizer, text)) if cap is None else cap
    with script(loaded, text):
        return answer(loaded, replace(GREEDY, max_reasoning_tokens=length), opens_thinking)

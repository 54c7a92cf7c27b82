"""Replies of tiny real models: the cache gives what the whole sequence gives; every way to end."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from palate_bridge.answers import read_answer
from palate_bridge.decode import closing_ids, draw_letter, reply
from palate_bridge.errors import BadInput, Checkpointed
from palate_bridge.model import LoadedModel
from palate_bridge.protocol import Decode
from palate_bridge.sampling import next_token, reply_rng
from palate_bridge.tokens import choice_tokens, encode
from tests.writing import GREEDY, PROMPT, SAMPLED, answer, script, whole_logits, writer, written


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("rule", [GREEDY, SAMPLED])
def test_cached_decoding_equals_reading_the_whole_sequence_anew(loaded: LoadedModel, rule: Decode) -> None:
    prompt = encode(loaded.tokenizer, PROMPT)
    got = reply(writer(loaded, rule), prompt, True, reply_rng(7, "q", "published", 0))
    rng, ids = reply_rng(7, "q", "published", 0), list(prompt)
    for _ in range(rule.max_reasoning_tokens):
        ids.append(next_token(whole_logits(loaded, ids)[-1], ids, rule, rng))
    assert got.completion_ids[: rule.max_reasoning_tokens] == ids[len(prompt) :]
    choice = choice_tokens(loaded.tokenizer)
    assert got.completion_ids[len(ids) - len(prompt) : -1] == list(choice.after_open_thinking)
    odds = whole_logits(loaded, prompt + got.completion_ids[:-1])[-1].double().softmax(-1)
    a, b = odds[choice.letter_a].item(), odds[choice.letter_b].item()
    assert got.letter_mass == pytest.approx(a + b, rel=1e-4)
    assert got.share_of_a == pytest.approx(a / (a + b), rel=1e-4)


def test_the_choice_alone_is_one_forward_over_prompt_and_forced_ids(loaded: LoadedModel) -> None:
    lengths: list[int] = []
    handle = loaded.base.model.register_forward_pre_hook(
        lambda _module, _arguments, named: lengths.append(named["input_ids"].shape[1]), with_kwargs=True
    )
    got = answer(loaded, replace(GREEDY, max_reasoning_tokens=0))
    handle.remove()
    forced = list(choice_tokens(loaded.tokenizer).after_nothing)
    assert got.completion_ids[:-1] == forced
    assert lengths == [len(encode(loaded.tokenizer, PROMPT)) + len(forced)]
    assert (got.finish_reason, got.forced_start, got.choice_index) == ("choice", 0, len(forced))
    assert got.letter == got.text[-1] == ("A" if (got.share_of_a or 0) >= 0.5 else "B")


def test_a_reply_ends_at_each_end_mark_and_keeps_it(loaded: LoadedModel) -> None:
    for mark in ("<|im_end|>", "<|endoftext|>"):
        got = written(loaded, f"It reads.\nANSWER: B{mark}", cap=40)
        assert (got.finish_reason, got.letter, got.forced_start) == ("stop", "B", None)
        assert got.text == "It reads.\nANSWER: B"
        assert got.completion_ids[-1] == loaded.tokenizer.convert_tokens_to_ids(mark)
        assert got.choice_index == len(got.completion_ids) - 2
        ids = encode(loaded.tokenizer, PROMPT) + got.completion_ids[: got.choice_index]
        choice = choice_tokens(loaded.tokenizer)
        letters = whole_logits(loaded, ids)[-1][[choice.letter_a, choice.letter_b]].softmax(-1)
        assert got.share_of_a == pytest.approx(letters[0].item(), rel=1e-4)


@pytest.mark.parametrize(
    ("text", "opens_thinking", "forced"),
    [
        ("The log", False, "\n\nANSWER:"),
        ("The log", True, "\n</think>\n\nANSWER:"),
        ("<think>\nANSWER: A", False, "\n</think>\n\nANSWER:"),
        ("ANSWER: A", True, "\n</think>\n\nANSWER:"),
        ("Read it.\n", False, "ANSWER:"),
        ("Read it.\n</think>", True, "\n\nANSWER:"),
        ("Read it.\n</think>\n\n", True, "ANSWER:"),
        ("I weigh both.\nANSWER:", False, ""),
        ("</think>ANSWER:", True, ""),
        ("answer: b", False, "\n\nANSWER:"),
        ("A", False, "\n\nANSWER:"),
        ("ANSWER: A or", False, "\n\nANSWER:"),
    ],
)
def test_at_the_cap_the_reply_is_closed_from_the_state_it_is_in(
    loaded_llama: LoadedModel, text: str, opens_thinking: bool, forced: str
) -> None:
    got = written(loaded_llama, text, opens_thinking)
    assert got.forced_start == len(encode(loaded_llama.tokenizer, text))
    assert got.choice_index == len(got.completion_ids) - 1
    assert (got.finish_reason, got.text) == ("choice", f"{text}{forced} {got.letter}")
    assert read_answer(got.text, got.finish_reason, opens_thinking).letter == got.letter


def test_with_thinking_open_and_nothing_written_the_block_is_closed(loaded: LoadedModel) -> None:
    got = answer(loaded, replace(GREEDY, max_reasoning_tokens=0), opens_thinking=True)
    assert got.text == f"\n</think>\n\nANSWER: {got.letter}"
    assert got.forced_start == 0


def test_a_whole_answer_line_at_the_cap_is_left_as_it_is(loaded: LoadedModel) -> None:
    got = written(loaded, "Read it.\nANSWER: B")
    assert (got.finish_reason, got.letter, got.forced_start) == ("length", "B", None)
    assert got.choice_index == len(got.completion_ids) - 1
    assert got.letter_mass is not None


def test_a_reply_that_ends_inside_its_thinking_has_no_choice(loaded: LoadedModel) -> None:
    got = written(loaded, "I weigh it.\nANSWER: A<|im_end|>", opens_thinking=True)
    assert (got.finish_reason, got.letter, got.choice_index, got.letter_mass) == ("stop", None, None, None)


def test_a_choice_over_the_vocabulary_may_be_no_letter_and_is_measured_still(loaded: LoadedModel) -> None:
    rule = replace(GREEDY, max_reasoning_tokens=0, choice="vocabulary")
    with script(loaded, "log"):
        got = answer(loaded, rule)
    assert (got.finish_reason, got.letter, got.choice_index) == ("choice", None, None)
    assert got.letter_mass is not None and got.letter_mass < 0.01
    with script(loaded, "ANSWER: B"[7:]):
        got = answer(loaded, rule)
    assert (got.letter, got.choice_index) == ("B", len(got.completion_ids) - 1)


def test_a_drawn_letter_follows_the_odds_at_the_temperature() -> None:
    rng = torch.Generator().manual_seed(1)
    draws = [draw_letter(1.0, 2.0, rng) for _ in range(4000)]
    assert draws.count("A") / 4000 == pytest.approx(1 / (1 + math.exp(-0.5)), abs=0.03)
    assert [draw_letter(lead, 0.0, rng) for lead in (0.1, -0.1)] == ["A", "B"]


def test_a_request_to_stop_is_heard_at_every_token(loaded: LoadedModel) -> None:
    asked: list[bool] = []

    def stop() -> bool:
        asked.append(len(asked) == 5)
        return asked[-1]

    with pytest.raises(Checkpointed):
        reply(
            replace(writer(loaded), stop_requested=stop),
            encode(loaded.tokenizer, PROMPT),
            False,
            reply_rng(1, "", "", 0),
        )
    assert len(asked) == 6


def test_logits_that_are_not_numbers_stop_the_job(loaded: LoadedModel) -> None:
    handle = loaded.base.lm_head.register_forward_hook(lambda _module, _inputs, logits: logits * math.nan)
    with pytest.raises(BadInput, match="not finite at token 0"):
        answer(loaded)
    handle.remove()


def test_nothing_of_a_reply_reaches_the_next_one(loaded: LoadedModel) -> None:
    first = answer(loaded, SAMPLED)
    answer(loaded, replace(SAMPLED, max_reasoning_tokens=3), opens_thinking=True)
    assert answer(loaded, SAMPLED) == first


def test_ids_that_hold_half_a_character_are_closed_too(loaded_llama: LoadedModel) -> None:
    half = encode(loaded_llama.tokenizer, "\u00e9")[:1]
    assert closing_ids(writer(loaded_llama), half, False) == choice_tokens(loaded_llama.tokenizer).after_text

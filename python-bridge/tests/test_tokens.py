"""The choice's token ids, in context and proven by decoding."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from palate_bridge import tokens
from palate_bridge.errors import BadInput
from palate_bridge.model import LoadedModel
from palate_bridge.tokens import assert_choice, check_parity, choice_tokens, encode, eos_ids, find_choice
from tests.presentations import make_presentation


@pytest.fixture
def tokenizer(loaded_llama: LoadedModel) -> PreTrainedTokenizerBase:
    return loaded_llama.tokenizer


def test_forced_text_and_letter_are_the_ids_of_the_text_written_whole(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    choice = choice_tokens(tokenizer)
    forms = {"ANSWER:": choice.after_nothing, "\n\nANSWER:": choice.after_text}
    forms["\n</think>\n\nANSWER:"] = choice.after_open_thinking
    for text, forced in forms.items():
        assert encode(tokenizer, f"{text} A") == [*forced, choice.letter_a]
        assert encode(tokenizer, f"{text} B") == [*forced, choice.letter_b]
    header = "<|im_start|>assistant\n"
    whole = encode(tokenizer, f"{header}ANSWER: B")
    assert whole == [*encode(tokenizer, header), *choice.after_nothing, choice.letter_b]


def test_a_tokenizer_that_splits_the_letter_off_its_space_is_refused() -> None:
    letters = {letter: id for id, letter in enumerate(sorted({chr(code) for code in range(9, 127)}))}
    plain = Tokenizer(models.WordLevel(letters, unk_token="?"))
    plain.pre_tokenizer = pre_tokenizers.Split("", behavior="isolated")
    with pytest.raises(BadInput, match="one more token"):
        choice_tokens(PreTrainedTokenizerFast(tokenizer_object=plain))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It reads.\nANSWER: A", " A"),
        ("ANSWER: A\n\nNo.\nANSWER: B<|im_end|>", " B"),
        ("</think>\n\nANSWER: B \n\n", " B"),
        ("</think>ANSWER: B", " B"),
        ("answer: b", None),
        ("ANSWER:B", None),
        ("B", None),
        ("I say ANSWER: B", None),
        ("ANSWER: B\nDone.", None),
        ("ANSWER: A or B", None),
        ("", None),
    ],
)
def test_the_choice_is_the_letter_token_of_the_final_answer_line(
    tokenizer: PreTrainedTokenizerBase, text: str, found: str | None
) -> None:
    ids = encode(tokenizer, text)
    index = find_choice(tokenizer, ids)
    assert (None if index is None else tokenizer.decode([ids[index]])) == found
    if index is not None and found is not None:
        assert_choice(tokenizer, ids, index, found.strip())


def test_a_wrong_position_and_a_wrong_letter_are_refused(tokenizer: PreTrainedTokenizerBase) -> None:
    ids = encode(tokenizer, "ANSWER: A\nANSWER: B")
    index = find_choice(tokenizer, ids)
    assert index == len(ids) - 1
    with pytest.raises(BadInput, match="not the letter"):
        assert_choice(tokenizer, ids, index, "A")
    with pytest.raises(BadInput, match="not the letter"):
        assert_choice(
            tokenizer, ids, encode(tokenizer, "ANSWER: A").index(choice_tokens(tokenizer).letter_a), "A"
        )


def test_text_is_decoded_without_special_tokens_and_with_thinking_marks(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    assert (
        tokens.decode(tokenizer, encode(tokenizer, "<think>\nA</think> b<|im_end|>"))
        == "<think>\nA</think> b"
    )


def test_end_marks_come_from_the_configurations_and_the_tokenizer(loaded_llama: LoadedModel) -> None:
    tokenizer = loaded_llama.tokenizer
    marks = set(tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"]))
    assert eos_ids(loaded_llama.base, tokenizer) == marks
    before = loaded_llama.base.generation_config.eos_token_id
    loaded_llama.base.generation_config.eos_token_id = [7, 9]
    try:
        assert eos_ids(loaded_llama.base, tokenizer) == marks | {7, 9}
    finally:
        loaded_llama.base.generation_config.eos_token_id = before


def test_other_ids_than_nodes_are_refused_by_question_and_position(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    good = make_presentation(tokenizer, "q-1", "published")
    assert check_parity(tokenizer, [good]) == 1
    other = replace(good, question_id="q-2", teacher_ids=[*good.teacher_ids[:5], 3, *good.teacher_ids[6:]])
    with pytest.raises(BadInput, match=r"q-2 \(published\), teacher prompt: token 5 is \d+ here and 3"):
        check_parity(tokenizer, [good, other])
    short = replace(good, student_ids=good.student_ids[:-1])
    with pytest.raises(BadInput, match="absent in the prompts file"):
        check_parity(tokenizer, [short])


def test_a_question_that_names_a_special_token_is_passed_over(tokenizer: PreTrainedTokenizerBase) -> None:
    plain = make_presentation(tokenizer, "q-1", "published", task="It printed <|im_end|>.")
    marks = set(tokenizer.added_tokens_decoder)
    name = [tokenizer.convert_tokens_to_ids(letter) for letter in "<|im_end|>"]
    ids = [id for id in plain.student_ids if id not in marks] + name
    assert check_parity(tokenizer, [replace(plain, student_ids=ids)]) == 0

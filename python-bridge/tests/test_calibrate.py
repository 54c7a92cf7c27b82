"""Calibration on tiny models: the one position a trace, and whose traces they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from palate_bridge import calibrate
from palate_bridge.errors import BadInput
from palate_bridge.lineage import adapter_sha256
from palate_bridge.model import LoadedModel
from palate_bridge.prompts_file import read_prompts
from palate_bridge.protocol import CalibrateLoss
from palate_bridge.tokens import choice_tokens
from tests.stage_context import events_of, make_context
from tests.tiny import make_adapter
from tests.training import OPTIMIZER, calibrate_task, make_trace, make_traces, write_inputs

ONE_STEP = replace(OPTIMIZER, epochs=1, questions_per_step=5)


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def ready(loaded: LoadedModel, folder: Path) -> tuple[Path, str]:
    adapter = make_adapter(loaded, folder / "start")
    sha256 = adapter_sha256(adapter)
    traces = make_traces(loaded.tokenizer, adapter_sha256=sha256, checkpoint="student")
    write_inputs(folder, loaded.tokenizer, traces)
    return adapter, sha256


@pytest.mark.parametrize("position", ["vocabulary", "letters"])
def test_the_first_loss_is_the_surprise_at_the_supported_letter(
    loaded: LoadedModel, tmp_path: Path, position: str
) -> None:
    adapter, _ = ready(loaded, tmp_path)
    loss = CalibrateLoss(choice_position=position)  # type: ignore[arg-type]
    task = calibrate_task(tmp_path, adapter, loss=loss, optimizer=ONE_STEP)
    outcome = calibrate.run(make_context(loaded, task))
    letters, prompts, losses = choice_tokens(loaded.tokenizer), read_prompts(task.prompts), []
    pair = [letters.letter_a, letters.letter_b]
    with loaded.with_adapter(adapter) as module, torch.no_grad():
        for trace in make_traces(loaded.tokenizer):
            shown = prompts[trace.question_id, trace.order]
            ids = shown.student_ids + trace.completion_ids[: trace.choice_index]
            logits = module(input_ids=torch.tensor([ids])).logits[0, -1]
            target = letters.letter_id(shown.supported)
            scale = logits[pair] if position == "letters" else logits
            losses.append((scale.logsumexp(-1) - logits[target]).item())
    assert outcome.figures["first_loss"] == pytest.approx(sum(losses) / len(losses), rel=1e-4)
    assert outcome.counts["supervised_tokens"] == len(losses) == 20


def test_calibration_goes_on_from_the_distilled_adapter(loaded: LoadedModel, tmp_path: Path) -> None:
    adapter, before = ready(loaded, tmp_path)
    task = calibrate_task(tmp_path, adapter, optimizer=replace(OPTIMIZER, epochs=5))
    outcome = calibrate.run(make_context(loaded, task))
    assert outcome.figures["last_loss"] < outcome.figures["first_loss"]
    assert outcome.adapter_sha256 != before
    assert adapter_sha256(adapter) == before
    with loaded.with_adapter(tmp_path / "calibrate" / "adapter") as module:
        assert module is not loaded.base


def test_a_trace_that_chose_the_wrong_letter_is_trained_on_the_supported_one(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    _, sha256 = ready(loaded_llama, tmp_path)
    shown = read_prompts(tmp_path / "prompts.arrow")["q-1", "published"]
    wrong = make_trace(loaded_llama.tokenizer, "q-1", "reversed", adapter_sha256=sha256)
    letters = choice_tokens(loaded_llama.tokenizer)
    example = calibrate.to_example(loaded_llama, letters, shown, wrong)
    assert not isinstance(example, str)
    assert (wrong.letter, example.target) == ("B", letters.letter_a)


def test_traces_of_another_adapter_are_refused(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    adapter, sha256 = ready(loaded_llama, tmp_path)
    traces = make_traces(loaded_llama.tokenizer, adapter_sha256=sha256)
    write_inputs(
        tmp_path, loaded_llama.tokenizer, [*traces[:-1], replace(traces[-1], adapter_sha256="0" * 64)]
    )
    with pytest.raises(BadInput, match="row 19: adapter_sha256 is 0000"):
        calibrate.run(make_context(loaded_llama, calibrate_task(tmp_path, adapter)))


def test_replies_without_a_choice_are_counted_and_left_out(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    adapter, sha256 = ready(loaded_llama, tmp_path)
    traces = make_traces(loaded_llama.tokenizer, adapter_sha256=sha256)
    none = {"choice_index": None, "letter": None, "finish_reason": "length"}
    write_inputs(
        tmp_path, loaded_llama.tokenizer, [replace(trace, **none) for trace in traces[:3]] + traces[3:]
    )
    task = calibrate_task(tmp_path, adapter, optimizer=ONE_STEP)
    outcome = calibrate.run(make_context(loaded_llama, task))
    assert outcome.warnings == ["3 of 20 left out: no choice in the reply"]
    assert outcome.counts["supervised_tokens"] == 17


def test_a_choice_index_that_is_not_at_a_letter_is_refused(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    adapter, sha256 = ready(loaded_llama, tmp_path)
    write_inputs(
        tmp_path,
        loaded_llama.tokenizer,
        make_traces(loaded_llama.tokenizer, adapter_sha256=sha256, choice_index=3),
    )
    with pytest.raises(BadInput, match="token 3 of a trace is not the letter"):
        calibrate.run(make_context(loaded_llama, calibrate_task(tmp_path, adapter)))
    assert events_of(tmp_path / "calibrate", "step") == []

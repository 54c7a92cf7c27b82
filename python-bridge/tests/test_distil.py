"""Distillation on tiny models: what is supervised, what the loss is, and what is left untouched."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from palate_bridge import distil
from palate_bridge.base_guard import BaseGuard
from palate_bridge.branch_forward import BranchOptions
from palate_bridge.context import StageOutcome
from palate_bridge.distil import make_work, to_example
from palate_bridge.errors import BadInput, JobError
from palate_bridge.files import sha256_file
from palate_bridge.forms import Form
from palate_bridge.fresh_adapter import fresh_adapter
from palate_bridge.losses import token_kl
from palate_bridge.model import LoadedModel
from palate_bridge.modes import student_mode
from palate_bridge.positions import supervised_rows
from palate_bridge.prompts_file import read_prompts
from palate_bridge.protocol import DistilTask
from palate_bridge.tokens import choice_tokens
from tests.stage_context import LINEAGE, events_of, make_context
from tests.training import LOSS, OPTIMIZER, distil_task, make_trace, make_traces, write_inputs

SHARED, REFERENCE = Form(True, BranchOptions()), Form(False, BranchOptions())
ONE_STEP = replace(OPTIMIZER, epochs=1, questions_per_step=5)


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def ready(loaded: LoadedModel, folder: Path, **changes: object) -> DistilTask:
    write_inputs(folder, loaded.tokenizer, make_traces(loaded.tokenizer))
    return distil_task(folder, **changes)


def run(loaded: LoadedModel, task: DistilTask) -> StageOutcome:
    return distil.run(make_context(loaded, task))


def test_training_lowers_the_loss_and_leaves_an_adapter_that_works(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    task = ready(loaded, tmp_path, optimizer=replace(OPTIMIZER, epochs=4))
    outcome = run(loaded, task)
    assert outcome.figures["last_loss"] < 0.8 * outcome.figures["first_loss"]
    assert outcome.counts["steps"] == 12
    adapter = tmp_path / "distil" / "adapter"
    assert outcome.files == [
        f"adapter/{name}" for name in ("adapter_config.json", "adapter_model.safetensors", "lineage.json")
    ]
    assert outcome.adapter_sha256 == sha256_file(adapter / "adapter_model.safetensors")
    with loaded.with_adapter(adapter) as module, torch.no_grad():
        moved = loaded.hidden_states(module, [1, 2, 3])
    with torch.no_grad():
        assert not torch.allclose(moved, loaded.hidden_states(loaded.base, [1, 2, 3]), atol=1e-3)


def test_the_base_is_bitwise_what_it_was(loaded: LoadedModel, tmp_path: Path) -> None:
    before = {name: tensor.clone() for name, tensor in loaded.base.state_dict().items()}
    run(loaded, ready(loaded, tmp_path, optimizer=ONE_STEP))
    after = loaded.base.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_the_first_loss_is_the_kl_between_base_with_and_without_the_demonstration(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    task = ready(loaded, tmp_path, optimizer=ONE_STEP)
    outcome = run(loaded, task)
    prompts, total, count = read_prompts(task.prompts), 0.0, 0
    for trace in make_traces(loaded.tokenizer):
        shown, reply = prompts[trace.question_id, trace.order], trace.completion_ids
        sides = []
        for prompt in (shown.student_ids, shown.teacher_ids):
            with torch.no_grad():
                logits = loaded.base(input_ids=torch.tensor([prompt + reply])).logits[0].double()
            sides.append(logits[len(prompt) - 1 : -1])
        total += token_kl(*sides, "forward").sum().item()
        count += len(reply)
    assert outcome.counts["supervised_tokens"] == count
    assert outcome.figures["first_loss"] == pytest.approx(total / count, rel=1e-4)


@pytest.mark.parametrize("form", [SHARED, REFERENCE])
def test_a_student_that_reads_what_the_teacher_reads_has_no_loss(
    loaded: LoadedModel, tmp_path: Path, form: Form
) -> None:
    task = ready(loaded, tmp_path)
    shown = read_prompts(task.prompts)["q-1", "published"]
    example = to_example(
        loaded, replace(shown, student_ids=shown.teacher_ids), make_traces(loaded.tokenizer)[0]
    )
    assert not isinstance(example, str)
    with fresh_adapter(loaded, task.lora, 1) as module:
        assert make_work(loaded, module, task, form)([example]).loss_sum.item() == 0.0


def test_forced_tokens_have_no_loss_and_the_choice_after_them_has(loaded_llama: LoadedModel) -> None:
    trace = make_trace(loaded_llama.tokenizer, "q-1", "published")
    assert trace.choice_index is not None
    ids = trace.completion_ids[: trace.choice_index + 1]
    forced = replace(trace, completion_ids=ids, finish_reason="choice", forced_close=True, forced_start=4)
    assert supervised_rows(forced) == [0, 1, 2, 3, trace.choice_index]
    assert supervised_rows(trace) == list(range(len(trace.completion_ids)))
    assert supervised_rows(replace(forced, choice_index=None)) == [0, 1, 2, 3]


def test_at_the_choice_the_letters_alone_can_be_compared(loaded: LoadedModel, tmp_path: Path) -> None:
    task = ready(loaded, tmp_path)
    shown = read_prompts(task.prompts)["q-1", "published"]
    trace = make_traces(loaded.tokenizer)[0]
    example = to_example(loaded, shown, trace)
    assert not isinstance(example, str)
    assert example.choice is not None
    letters = choice_tokens(loaded.tokenizer)
    with fresh_adapter(loaded, task.lora, 1) as module:
        whole = make_work(loaded, module, task, SHARED)([example]).loss_sum
        other = replace(task, loss=replace(LOSS, choice_position="letters"))
        narrow = make_work(loaded, module, other, SHARED)([example]).loss_sum
        with torch.no_grad():
            rows = [
                loaded.lm_head(loaded.hidden_states(loaded.base, prompt + trace.completion_ids))[
                    len(prompt) - 1 + trace.choice_index
                ]
                for prompt in (shown.student_ids, shown.teacher_ids)
            ]
    pair = [letters.letter_a, letters.letter_b]
    full, two = (
        token_kl(rows[0][None, columns], rows[1][None, columns], "forward").item()
        for columns in (slice(None), pair)
    )
    assert (whole - narrow).item() == pytest.approx(full - two, abs=1e-4)


@pytest.mark.parametrize("shared", [True, False])
def test_recomputing_layers_changes_neither_loss_nor_gradient(
    loaded: LoadedModel, tmp_path: Path, shared: bool
) -> None:
    task = ready(loaded, tmp_path)
    shown = read_prompts(task.prompts)["q-1", "published"]
    example = to_example(loaded, shown, make_traces(loaded.tokenizer)[0])
    assert not isinstance(example, str)
    found = []
    for recompute in (False, True):
        form = Form(shared, BranchOptions(recompute))
        with fresh_adapter(loaded, task.lora, 1) as module, student_mode(module, form.model_recomputes):
            loss = make_work(loaded, module, task, form)([example]).loss_sum
            loss.backward()
            gradients = [weight.grad.clone() for weight in module.parameters() if weight.grad is not None]
            found.append((loss.item(), gradients))
    assert found[0][0] == found[1][0]
    assert len(found[0][1]) == len(found[1][1]) > 0
    assert all(torch.equal(one, two) for one, two in zip(found[0][1], found[1][1], strict=True))


@pytest.mark.parametrize("form", ["shared", "reference"])
def test_the_same_training_gives_the_same_bytes_with_and_without_recomputing(
    loaded: LoadedModel, tmp_path: Path, form: str
) -> None:
    shas = set()
    for name, recompute in (("one", False), ("two", True)):
        task = ready(loaded, tmp_path / name)
        context = make_context(loaded, task, form=form, gradient_checkpointing=recompute)
        shas.add(distil.run(context).adapter_sha256)
    assert len(shas) == 1


def test_the_teacher_is_run_once_for_all_epochs(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = ready(loaded_llama, tmp_path, optimizer=replace(OPTIMIZER, questions_per_step=5, epochs=3))
    run(loaded_llama, task)
    tokens = [step["tokens"] for step in events_of(tmp_path / "distil", "step")]
    assert tokens[0] > 1.5 * tokens[1]
    assert tokens[1] == tokens[2]


def test_a_base_that_changed_is_noticed(loaded: LoadedModel, tmp_path: Path) -> None:
    guard = BaseGuard(loaded, read_prompts(ready(loaded, tmp_path).prompts))
    weight = loaded.base.model.layers[0].mlp.down_proj.weight
    kept = weight.data.clone()
    try:
        weight.data[0, 0] += 1e-3
        with pytest.raises(JobError, match="no longer the base"):
            guard.check(None)
    finally:
        weight.data.copy_(kept)
    guard.check(None)


def test_rejected_traces_and_questions_of_others_are_not_trained_on(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    traces = [
        replace(trace, accepted=trace.question_id != "q-2", reject_reason="wrong_letter")
        for trace in make_traces(loaded_llama.tokenizer)
    ]
    write_inputs(tmp_path, loaded_llama.tokenizer, traces)
    outcome = run(loaded_llama, distil_task(tmp_path, ids=["q-1", "q-2", "q-3"], optimizer=ONE_STEP))
    assert (outcome.counts["questions"], outcome.counts["questions_trained"]) == (3, 2)
    assert outcome.warnings == ["1 of 3 questions left out: no trace to train on"]
    lineage = json.loads((tmp_path / "distil" / "adapter" / "lineage.json").read_text("utf-8"))
    assert lineage["question_ids"] == ["q-1", "q-3"]


def test_lineage_says_what_the_adapter_came_from(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = ready(loaded_llama, tmp_path, optimizer=replace(OPTIMIZER, max_steps=1))
    run(loaded_llama, task)
    adapter = tmp_path / "distil" / "adapter"
    lineage = json.loads((adapter / "lineage.json").read_text("utf-8"))
    assert len(lineage["question_ids"]) == 2, "one step of two questions"
    assert (lineage["key"], lineage["seed"]) == (task.key, 11)
    assert lineage["data_digest"] == LINEAGE.data_digest
    assert lineage["parameters"]["loss"]["direction"] == "forward"
    assert lineage["files"] == {
        name: sha256_file(adapter / name) for name in ("adapter_config.json", "adapter_model.safetensors")
    }
    assert str(tmp_path) not in (adapter / "adapter_config.json").read_text("utf-8")


def test_nothing_accepted_is_bad_input_before_training(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    traces = make_traces(loaded_llama.tokenizer, accepted=False, reject_reason="wrong_letter")
    write_inputs(tmp_path, loaded_llama.tokenizer, traces)
    with pytest.raises(BadInput, match="5 questions have 20 traces, 0 of them accepted"):
        run(loaded_llama, distil_task(tmp_path))
    assert events_of(tmp_path / "distil", "step") == []


def test_ids_without_any_question_in_the_traces_are_bad_input(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    task = ready(loaded_llama, tmp_path, ids=["q-9"])
    with pytest.raises(BadInput, match="1 questions have 0 traces"):
        run(loaded_llama, task)

"""The shared form and the reference form of a whole stage, and how a question is cut between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from palate_bridge import calibrate, distil
from palate_bridge.branch_forward import BranchOptions
from palate_bridge.context import StageContext, StageOutcome
from palate_bridge.distil import DistilExample, make_work, to_example
from palate_bridge.forms import Form
from palate_bridge.fresh_adapter import fresh_adapter
from palate_bridge.lineage import adapter_sha256
from palate_bridge.lora import trainable
from palate_bridge.model import LoadedModel, load_model
from palate_bridge.prompts_file import read_prompts
from palate_bridge.protocol import CalibrateTask, DistilTask, Lora
from tests.stage_context import events_of, make_context
from tests.tiny import LLAMA_TARGETS, make_adapter, make_model
from tests.training import OPTIMIZER, calibrate_task, distil_task, make_traces, write_inputs

Run = Callable[[StageContext], StageOutcome]
SHARED, REFERENCE = Form(True, BranchOptions()), Form(False, BranchOptions())


@pytest.fixture(params=["loaded_llama", "loaded_qwen3", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def distil_ready(loaded: LoadedModel, folder: Path) -> DistilTask:
    write_inputs(folder, loaded.tokenizer, make_traces(loaded.tokenizer))
    return distil_task(folder, optimizer=replace(OPTIMIZER, epochs=3))


def calibrate_ready(loaded: LoadedModel, folder: Path) -> CalibrateTask:
    adapter = make_adapter(loaded, folder / "start")
    traces = make_traces(loaded.tokenizer, adapter_sha256=adapter_sha256(adapter), checkpoint="student")
    write_inputs(folder, loaded.tokenizer, traces)
    return calibrate_task(folder, adapter)


@pytest.mark.parametrize(
    ("run", "ready"),
    [(distil.run, distil_ready), (calibrate.run, calibrate_ready)],
    ids=["distil", "calibrate"],
)
def test_a_whole_stage_takes_the_same_course_in_both_forms(
    loaded: LoadedModel, tmp_path: Path, run: Run, ready: Callable[..., DistilTask]
) -> None:
    courses = {}
    for form in ("shared", "reference"):
        task = ready(loaded, tmp_path / form)
        run(make_context(loaded, task, form=form))
        courses[form] = events_of(Path(task.folder), "step")
    for one, other in zip(courses["shared"], courses["reference"], strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-3)
        assert one["grad_norm"] == pytest.approx(other["grad_norm"], rel=1e-2)
        assert one["supervised_tokens"] == other["supervised_tokens"]
        assert one["tokens"] < 0.7 * other["tokens"]
    assert courses["shared"][0]["loss"] == pytest.approx(courses["reference"][0]["loss"], rel=1e-6)


def examples_of(loaded: LoadedModel, task: DistilTask) -> list[DistilExample]:
    prompts = read_prompts(Path(task.prompts))
    traces = [trace for trace in make_traces(loaded.tokenizer) if trace.question_id == "q-1"]
    built = [to_example(loaded, prompts[trace.question_id, trace.order], trace) for trace in traces]
    return [example for example in built if not isinstance(example, str)]


def gradients(
    loaded: LoadedModel, task: DistilTask, form: Form, micro_steps: list[list[DistilExample]]
) -> tuple[float, list[Tensor]]:
    with fresh_adapter(loaded, task.lora, 3) as module:
        for name, weight in trainable(module):
            if ".lora_B." in name:
                weight.data.copy_(torch.linspace(-0.02, 0.02, weight.numel()).view(weight.shape))
        work, total = make_work(loaded, module, task, form), 0.0
        for micro in micro_steps:
            loss = work(micro).loss_sum
            loss.backward()
            total += loss.item()
        return total, [weight.grad.clone() for _, weight in trainable(module)]


@pytest.mark.parametrize("sizes", [[4], [1, 3], [2, 2], [1, 1, 1, 1]])
def test_how_a_question_is_cut_into_micro_steps_changes_only_rounding(
    loaded: LoadedModel, tmp_path: Path, sizes: list[int]
) -> None:
    task = distil_ready(loaded, tmp_path)
    examples = iter(examples_of(loaded, task))
    cut = [[next(examples) for _ in range(size)] for size in sizes]
    loss, found = gradients(loaded, task, SHARED, cut)
    whole = [[example] for example in examples_of(loaded, task)]
    wanted_loss, wanted = gradients(loaded, task, REFERENCE, whole)
    assert loss == pytest.approx(wanted_loss, rel=1e-6)
    for one, other in zip(found, wanted, strict=True):
        assert (one - other).norm() <= 1e-5 * other.norm()


def test_an_architecture_it_does_not_know_is_trained_in_the_reference_form(tmp_path: Path) -> None:
    granite = load_model(make_model("granite", tmp_path / "model"), "tiny", "float32", "cpu")
    shas = set()
    for form in ("shared", "reference"):
        task = replace(distil_ready(granite, tmp_path / form), lora=Lora(4, 8.0, list(LLAMA_TARGETS)))
        shas.add(distil.run(make_context(granite, task, form=form)).adapter_sha256)
    assert len(shas) == 1
    [warning] = events_of(tmp_path / "shared" / "distil", "warning")
    assert (warning["code"], warning["key"]) == ("reference_form", task.key)
    assert "GraniteDecoderLayer" in warning["message"]
    assert events_of(tmp_path / "reference" / "distil", "warning") == []


@pytest.mark.parametrize("form", ["shared", "reference"])
def test_offloading_changes_no_byte(loaded: LoadedModel, tmp_path: Path, form: str) -> None:
    shas = set()
    for offload in (False, True):
        task = distil_ready(loaded, tmp_path / str(offload))
        context = make_context(
            loaded, task, form=form, gradient_checkpointing=True, offload_activations=offload
        )
        shas.add(distil.run(context).adapter_sha256)
    assert len(shas) == 1

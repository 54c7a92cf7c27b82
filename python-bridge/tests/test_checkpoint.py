"""Training that was stopped or killed ends in the same bytes as training that was not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from palate_bridge import distil
from palate_bridge.checkpoint import saved_steps
from palate_bridge.errors import Checkpointed, Fenced
from palate_bridge.lease import take_lease
from palate_bridge.model import LoadedModel
from palate_bridge.protocol import DistilTask
from tests.stage_context import events_of, make_context
from tests.training import OPTIMIZER, distil_task, make_traces, write_inputs

MICRO_STEPS = 2
EXAMPLES_A_STEP = 8
STEPS = 6


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def ready(loaded: LoadedModel, folder: Path) -> DistilTask:
    write_inputs(folder, loaded.tokenizer, make_traces(loaded.tokenizer))
    return distil_task(folder)


def run(
    loaded: LoadedModel,
    task: DistilTask,
    stop: Callable[[], bool] = lambda: False,
    every: int = 2,
    form: str = "shared",
) -> str | None:
    return distil.run(
        make_context(loaded, task, stop, checkpoint_every_steps=every, form=form)
    ).adapter_sha256


def after(calls: int) -> Callable[[], bool]:
    """A stop that is asked for at a micro-step."""
    count = iter(range(10**9))
    return lambda: next(count) >= calls


@pytest.mark.parametrize(
    ("form", "micro_steps"),
    [
        ("shared", 0),
        ("shared", MICRO_STEPS + 1),
        ("shared", 3 * MICRO_STEPS),
        ("reference", EXAMPLES_A_STEP + 3),
    ],
)
def test_stopping_at_any_micro_step_and_going_on_changes_no_byte(
    loaded: LoadedModel, tmp_path: Path, form: str, micro_steps: int
) -> None:
    straight = run(loaded, ready(loaded, tmp_path / "straight"), form=form)
    task = ready(loaded, tmp_path / "stopped")
    with pytest.raises(Checkpointed):
        run(loaded, task, after(micro_steps), form=form)
    assert run(loaded, task, form=form) == straight
    started = events_of(Path(task.folder), "stage_started")
    assert [line["total"] for line in started] == [STEPS, STEPS]
    steps = [line["step"] for line in events_of(Path(task.folder), "step")]
    assert steps == list(range(1, STEPS + 1)), "no step twice: the stop saved the last one"


def test_stopping_at_every_step_changes_no_byte(loaded: LoadedModel, tmp_path: Path) -> None:
    straight = run(loaded, ready(loaded, tmp_path / "straight"))
    task = ready(loaded, tmp_path / "stopped")
    for _ in range(STEPS - 1):
        with pytest.raises(Checkpointed):
            run(loaded, task, after(MICRO_STEPS))
    assert run(loaded, task) == straight


def test_two_checkpoints_are_kept(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = ready(loaded_llama, tmp_path)
    run(loaded_llama, task, every=1)
    assert saved_steps(Path(task.folder)) == [STEPS - 2, STEPS - 1]


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    straight = run(loaded_llama, ready(loaded_llama, tmp_path / "straight"))
    task = ready(loaded_llama, tmp_path / "stopped")
    with pytest.raises(Checkpointed):
        run(loaded_llama, task, after(4 * MICRO_STEPS), every=1)
    newest = Path(task.folder) / f"checkpoint-{saved_steps(Path(task.folder))[-1]}"
    weights = newest / "optimizer.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert run(loaded_llama, task) == straight
    [_, again] = events_of(Path(task.folder), "stage_started")
    assert again["done"] == int(newest.name.removeprefix("checkpoint-")) - 1


def test_how_often_is_saved_changes_no_byte(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    shas = {run(loaded_llama, ready(loaded_llama, tmp_path / str(every)), every=every) for every in (1, 5)}
    assert len(shas) == 1


def test_an_attempt_that_was_taken_over_writes_nothing_more(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    task = ready(loaded_llama, tmp_path)
    folder = Path(task.folder)
    calls = iter(range(10**9))

    def take_over() -> bool:
        if next(calls) == MICRO_STEPS + 1:
            take_lease(folder, "another")
        return False

    with pytest.raises(Fenced, match="attempt 2 has taken over from attempt 1"):
        run(loaded_llama, task, take_over, every=1)
    assert not (folder / "adapter").exists()
    assert saved_steps(folder) == [1]


def test_the_recipe_counts_its_steps_after_the_cut(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = replace(ready(loaded_llama, tmp_path), optimizer=replace(OPTIMIZER, max_steps=2))
    run(loaded_llama, task)
    assert [line["total"] for line in events_of(Path(task.folder), "step")] == [2, 2]

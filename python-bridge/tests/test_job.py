"""Whole jobs as real processes: how they end, what they leave, and that nothing outlives them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from palate_bridge import distil
from palate_bridge.lineage import adapter_sha256
from palate_bridge.model import LoadedModel
from palate_bridge.protocol import DistilTask
from tests.stage_context import make_context
from tests.training import (
    BRIDGE,
    OPTIMIZER,
    distil_task,
    events,
    kill,
    make_traces,
    run_job,
    start_job,
    write_inputs,
    write_job,
)

MANY = replace(OPTIMIZER, epochs=8)
SOON = 10.0


def ready(folder: Path, model: LoadedModel, path: Path, **changes: object) -> tuple[Path, DistilTask]:
    write_inputs(folder, model.tokenizer, make_traces(model.tokenizer))
    task = distil_task(folder, **changes)
    return write_job(folder / "job", path, [task]), task


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.02)


def kinds_of(job: Path) -> list[str]:
    """Without heartbeats, which come when they come."""
    return [kind for line in events(job) if (kind := line["event"]) != "heartbeat"]


def steps_of(job: Path) -> int:
    return max((line["step"] for line in events(job) if line["event"] == "step"), default=0)


def test_a_job_ends_with_0_a_result_and_the_events_of_its_life(
    loaded_llama: LoadedModel, tiny_llama: Path, tmp_path: Path
) -> None:
    job, task = ready(tmp_path, loaded_llama, tiny_llama)
    assert run_job(job) == 0
    kinds = kinds_of(job)
    assert kinds[:3] == ["job_started", "model_loaded", "stage_started"]
    assert kinds[-2:] == ["stage_done", "job_done"]
    assert kinds.count("step") == 6
    result = json.loads((Path(task.folder) / "result.json").read_text("utf-8"))
    assert sorted(result) == [
        "adapter_sha256", "counts", "figures", "files", "key", "seconds", "stage", "warnings",
    ]  # fmt: skip
    assert result["files"]["adapter/adapter_model.safetensors"] == result["adapter_sha256"]
    assert not list(Path(task.folder).glob("checkpoint-*"))
    assert run_job(job) == 0, "a second run finds it done"
    again = kinds_of(job)[len(kinds) :]
    assert again == ["job_started", "stage_done", "job_done"]


def test_events_come_on_fd_3_as_they_are_in_the_file(
    loaded_llama: LoadedModel, tiny_llama: Path, tmp_path: Path
) -> None:
    job, _ = ready(tmp_path, loaded_llama, tiny_llama, optimizer=replace(OPTIMIZER, max_steps=1))
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    shell = f'exec 3>&{writer}; exec "$0" -m palate_bridge "$1"'
    process = subprocess.Popen(
        ["bash", "-c", shell, sys.executable, str(job)], cwd=BRIDGE, pass_fds=[writer], stdin=subprocess.PIPE
    )
    os.close(writer)
    with os.fdopen(reader, "rb") as lines:
        received = lines.read()
    assert process.wait(timeout=60) == 0
    assert received == (job.parent / "events.jsonl").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR2])
def test_a_signal_in_training_leaves_a_checkpoint_and_75(
    loaded_llama: LoadedModel, tiny_llama: Path, tmp_path: Path, number: signal.Signals
) -> None:
    job, task = ready(tmp_path, loaded_llama, tiny_llama, optimizer=MANY)
    process = start_job(job)
    wait_for(lambda: steps_of(job) >= 3)
    process.send_signal(number)
    assert process.wait(timeout=SOON) == 75
    [saved] = [line["done"] for line in events(job) if line["event"] == "checkpointed"][-1:]
    assert saved == steps_of(job)
    assert (Path(task.folder) / f"checkpoint-{saved}" / "state.json").exists()
    assert not (Path(task.folder) / "result.json").exists()
    assert "failed" not in {line["event"] for line in events(job)}


@pytest.mark.parametrize("kind", ["llama", "qwen"])
def test_killed_and_run_again_the_adapter_is_that_of_a_straight_run(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    model, path = request.getfixturevalue(f"loaded_{kind}"), request.getfixturevalue(f"tiny_{kind}")
    _, task = ready(tmp_path / "straight", model, path, optimizer=MANY)
    distil.run(make_context(model, task))
    job, killed = ready(tmp_path / "killed", model, path, optimizer=MANY)
    process = start_job(job)
    wait_for(lambda: steps_of(job) >= 3)
    kill(process)
    assert not (Path(killed.folder) / "result.json").exists()
    assert run_job(job) == 0
    assert adapter_sha256(Path(killed.folder) / "adapter") == adapter_sha256(Path(task.folder) / "adapter")
    attempts = sorted(path.name for path in (Path(killed.folder) / "attempts").iterdir())
    assert attempts == ["1.json", "2.json"]


def test_a_closed_stdin_ends_the_job_in_seconds(
    loaded_llama: LoadedModel, tiny_llama: Path, tmp_path: Path
) -> None:
    job, _ = ready(tmp_path, loaded_llama, tiny_llama, optimizer=replace(OPTIMIZER, epochs=10_000))
    process = start_job(job)
    wait_for(lambda: steps_of(job) >= 1)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=SOON) == 75


HANG = """
import os, subprocess, sys, time
sys.path.insert(0, {bridge!r})
from palate_bridge.lifeline import Lifeline
Lifeline().start()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(90)"])
print(os.getpid(), child.pid, flush=True)
time.sleep(90)
"""


def hanging(parent: str) -> tuple[subprocess.Popen[str], int, int]:
    """A process on the lifeline that never looks at its flag, with a child of its own, under a parent."""
    program = HANG.format(bridge=str(BRIDGE))
    process = subprocess.Popen(
        [sys.executable, "-c", parent, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    mine, child = process.stdout.readline().split()
    return process, int(mine), int(child)


PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], stdin={stdin})"


@pytest.mark.parametrize("stdin", ["subprocess.DEVNULL", "subprocess.PIPE", "None"])
def test_a_killed_parent_takes_the_job_and_its_children_along(stdin: str) -> None:
    process, mine, child = hanging(PARENT.format(stdin=stdin))
    assert os.getpgid(mine) == mine, "its own process group"
    assert os.getpgid(child) == mine
    process.kill()
    process.wait()
    wait_for(lambda: not alive(mine) and not alive(child), SOON)


SPIN = """
import sys
sys.path.insert(0, {bridge!r})
from palate_bridge.lifeline import Lifeline
Lifeline().start()
print("ready", flush=True)
while True:
    pass
"""


def test_a_flood_of_signals_does_not_keep_the_job_from_ending() -> None:
    program = SPIN.format(bridge=str(BRIDGE))
    command = [sys.executable, "-c", program]
    for _ in range(3):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        for _ in range(1000):
            for number in (signal.SIGTERM, signal.SIGUSR2, signal.SIGINT):
                process.send_signal(number)
        process.stdin.close()
        assert process.wait(timeout=SOON) == 75


def alive(pid: int) -> bool:
    """A dead one may stay in the table until someone looks at it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("{", 78, "job.json"),
        ('{"protocol": 2}', 78, "protocol is 2"),
        ('{"protocol": 1, "kind": "stages"}', 78, "job.job: missing"),
    ],
)
def test_a_wrong_job_ends_with_78_before_torch_is_loaded(
    text: str, code: int, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "job.json"
    path.write_text(text)
    assert run_job(path) == code
    [failed] = events(path)
    assert (failed["event"], failed["exit_code"], failed["key"]) == ("failed", code, None)
    assert said in failed["message"]
    program = (
        "import sys; from palate_bridge.__main__ import main\n"
        f"main([{str(path)!r}]); print('torch' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], cwd=BRIDGE, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert shown.stdout.strip() == "False"


def test_bad_input_of_a_stage_names_the_stage(
    loaded_llama: LoadedModel, tiny_llama: Path, tmp_path: Path
) -> None:
    job, task = ready(tmp_path, loaded_llama, tiny_llama, traces=str(tmp_path / "absent.arrow"))
    assert run_job(job) == 78
    failed = events(job)[-1]
    assert (failed["event"], failed["key"], failed["exit_code"]) == ("failed", task.key, 78)
    assert "absent.arrow" in failed["message"]


def test_a_loss_that_is_no_number_ends_with_79_and_keeps_the_checkpoint(
    loaded_llama: LoadedModel, tiny_llama: Path, tmp_path: Path
) -> None:
    wild = replace(MANY, learning_rate=1e30, warmup_ratio=0.0)
    job, task = ready(tmp_path, loaded_llama, tiny_llama, optimizer=wild)
    assert run_job(write_job(job.parent, tiny_llama, [task], every=1)) == 79
    failed = events(job)[-1]
    assert (failed["event"], failed["exit_code"]) == ("failed", 79)
    assert list(Path(task.folder).glob("checkpoint-*"))
    assert not (Path(task.folder) / "result.json").exists()


def test_a_torn_last_line_of_events_is_taken_off(
    loaded_llama: LoadedModel, tiny_llama: Path, tmp_path: Path
) -> None:
    job, _ = ready(tmp_path, loaded_llama, tiny_llama, optimizer=replace(OPTIMIZER, max_steps=1))
    (job.parent / "events.jsonl").write_text('{"event": "job_done", "t": 1}\n{"event": "st')
    assert run_job(job) == 0
    assert kinds_of(job)[:2] == ["job_done", "job_started"]

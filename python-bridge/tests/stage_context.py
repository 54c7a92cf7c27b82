"""A reply stage ready to run: real prompts file, lease and event channel in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from palate_bridge.context import StageContext
from palate_bridge.events import EventChannel
from palate_bridge.lease import take_lease
from palate_bridge.model import LoadedModel
from palate_bridge.protocol import (
    Base,
    Decode,
    Execution,
    Gate,
    GenerateTask,
    Lineage,
    ScoreTask,
    StageTask,
)
from tests.presentations import make_presentations, write_prompts

IDS = ["q-2", "q-1", "q-3"]
KEY = "a" * 64
EXECUTION = Execution(
    threads=1,
    checkpoint_every_steps=10,
    form="shared",
    gradient_checkpointing=False,
    offload_activations=False,
)
LINEAGE = Lineage("b" * 64, "c" * 64, 0, Base("tiny", None, "tiny"), "d" * 64, [])


def generate_task(loaded: LoadedModel, folder: Path, decode: Decode, **changes: Any) -> GenerateTask:
    task = GenerateTask(
        **common(loaded, folder),
        stage="generate",
        role="teacher",
        adapter=None,
        samples=2,
        decode=decode,
        gate=Gate(max_copied_tokens=8),
    )
    return replace(task, **changes)


def score_task(loaded: LoadedModel, folder: Path, decode: Decode, **changes: Any) -> ScoreTask:
    task = ScoreTask(
        **common(loaded, folder), stage="score", checkpoint="base", adapter=None, samples=1, decode=decode
    )
    return replace(task, **changes)


def common(loaded: LoadedModel, folder: Path) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    prompts = folder.parent / "prompts.arrow"
    if not prompts.exists():
        write_prompts(prompts, make_presentations(loaded.tokenizer, sorted(IDS), opens_thinking=True))
    return {
        "key": KEY,
        "label": "test",
        "folder": str(folder),
        "seed": 5,
        "prompts": str(prompts),
        "ids": IDS,
        "lineage": LINEAGE,
    }


def make_context(
    loaded: LoadedModel,
    task: StageTask,
    stop_requested: Callable[[], bool] = lambda: False,
    **execution: Any,
) -> StageContext:
    folder = Path(task.folder)
    lease = take_lease(folder, "job")
    return StageContext(
        task=task,
        folder=folder,
        loaded=loaded,
        events=EventChannel(folder),
        execution=replace(EXECUTION, **execution),
        attempt=lease.attempt,
        stop_requested=stop_requested,
        check_lease=lease.check,
    )


def events_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    return [event for line in lines if (event := json.loads(line))["event"] == kind]

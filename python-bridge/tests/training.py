"""Training stages ready to run: prompts and traces on disk, tasks, and whole jobs for real subprocesses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerBase

from palate_bridge.protocol import (
    CalibrateLoss,
    CalibrateTask,
    DistilLoss,
    DistilTask,
    Lora,
    Optimizer,
    TaskBase,
)
from palate_bridge.records import Trace
from palate_bridge.tokens import encode, find_choice
from palate_bridge.traces_file import write_traces
from tests.presentations import make_presentations, write_prompts
from tests.stage_context import EXECUTION, LINEAGE

BRIDGE = Path(__file__).parents[1]
IDS = ["q-1", "q-2", "q-3", "q-4", "q-5"]
LOSS = DistilLoss(direction="forward", choice_position="vocabulary", temperature=1.0, chunk_positions=8)
OPTIMIZER = Optimizer(
    epochs=2,
    questions_per_step=2,
    learning_rate=0.01,
    schedule="cosine",
    warmup_ratio=0.2,
    weight_decay=0.01,
    betas=(0.9, 0.99),
    max_grad_norm=1.0,
    max_steps=None,
)
THOUGHTS = ["The log shows the cause.", "Read first, then act.", "The other option hides the error."]


def make_trace(
    tokenizer: PreTrainedTokenizerBase, question_id: str, order: str, sample: int = 0, **changes: Any
) -> Trace:
    """A reply that thinks a little, answers with the supported letter and ends."""
    letter = "A" if order == "published" else "B"
    thought = THOUGHTS[(len(question_id) + sample) % len(THOUGHTS)]
    ids = encode(tokenizer, f"{question_id}: {thought}\n</think>\n\nANSWER: {letter}<|im_end|>")
    trace = Trace(
        question_id=question_id,
        order=order,
        sample=sample,
        checkpoint="teacher",
        adapter_sha256=None,
        text="",
        completion_ids=ids,
        finish_reason="stop",
        forced_close=False,
        forced_start=None,
        choice_index=find_choice(tokenizer, ids),
        letter_mass=0.9,
        letter_share=0.9,
        letter=letter,
        prompt_tokens=9,
        prompt_opens_thinking=True,
        accepted=True,
        reject_reason=None,
    )
    return replace(trace, **changes)


def make_traces(tokenizer: PreTrainedTokenizerBase, **changes: Any) -> list[Trace]:
    return [
        make_trace(tokenizer, id, order, sample, **changes)
        for id in IDS
        for order in ("published", "reversed")
        for sample in range(2)
    ]


def write_inputs(folder: Path, tokenizer: PreTrainedTokenizerBase, traces: list[Trace]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_prompts(folder / "prompts.arrow", make_presentations(tokenizer, IDS, opens_thinking=True))
    write_traces(folder / "traces.arrow", traces)


def common(folder: Path, stage: str) -> dict[str, Any]:
    """`folder` holds prompts.arrow and traces.arrow; the stage folder is made below it."""
    target = folder / stage
    target.mkdir(parents=True, exist_ok=True)
    return {
        "key": ("1" if stage == "distil" else "2") * 64,
        "label": stage,
        "folder": str(target),
        "seed": 11,
        "prompts": str(folder / "prompts.arrow"),
        "ids": IDS,
        "lineage": LINEAGE,
        "traces": str(folder / "traces.arrow"),
        "optimizer": OPTIMIZER,
    }


def distil_task(folder: Path, **changes: Any) -> DistilTask:
    lora = Lora(rank=4, alpha=8.0, targets="auto")
    return replace(DistilTask(**common(folder, "distil"), stage="distil", lora=lora, loss=LOSS), **changes)


def calibrate_task(folder: Path, adapter: Path, **changes: Any) -> CalibrateTask:
    loss = CalibrateLoss(choice_position="vocabulary")
    task = CalibrateTask(**common(folder, "calibrate"), stage="calibrate", adapter=str(adapter), loss=loss)
    return replace(task, **changes)


def write_job(folder: Path, model: Path, tasks: list[TaskBase], every: int = 2) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    job = {
        "protocol": 1,
        "kind": "stages",
        "job": folder.name,
        "model": {"path": str(model), "digest": "tiny", "dtype": "float32", "device": "cpu"},
        "execution": asdict(replace(EXECUTION, checkpoint_every_steps=every)),
        "stages": [asdict(task) for task in tasks],
    }
    path = folder / "job.json"
    path.write_text(json.dumps(job), encoding="utf-8")
    return path


def start_job(path: Path, **more: Any) -> subprocess.Popen[bytes]:
    """A real job; its stdin is a pipe that stays open as long as this process wants it to live."""
    return subprocess.Popen(
        [sys.executable, "-m", "palate_bridge", str(path)],
        cwd=BRIDGE,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=(path.parent / "stderr.log").open("wb"),
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(BRIDGE)},
        **more,
    )


def run_job(path: Path) -> int:
    return start_job(path).wait(timeout=120)


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=10)


def events(path: Path) -> list[dict[str, Any]]:
    log = path.parent / "events.jsonl"
    return [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]] if log.exists() else []

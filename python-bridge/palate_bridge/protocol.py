"""The wire contract, twin of orchestrator/bridge/protocol.ts: what a job may say and what events tell.

test/fixtures/protocol holds the lines both sides read. Raise PROTOCOL_VERSION on both sides together.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from palate_bridge.errors import BadInput
from palate_bridge.strict import NOT_EMPTY, Check, above, at_least, at_most, below, read

PROTOCOL_VERSION = 1

Count = Annotated[int, at_least(0)]
Positive = Annotated[int, at_least(1)]
Hex = Annotated[str, Check(lambda value: re.fullmatch("[0-9a-f]{64}", value) is not None, "64 hex digits")]
Name = Annotated[str, NOT_EMPTY]
AboveZero = Annotated[float, above(0)]
NotNegative = Annotated[float, at_least(0)]
Share = Annotated[float, at_least(0), at_most(1)]
Beta = Annotated[float, at_least(0), below(1)]


@dataclass(frozen=True)
class Decode:
    """How a reply is written: every field explicit, nothing taken from generation_config.json."""

    max_reasoning_tokens: Count
    choice: Literal["letters", "vocabulary"]
    temperature: NotNegative
    top_p: Annotated[float, above(0), at_most(1)]
    top_k: Count
    min_p: Share
    repetition_penalty: AboveZero


@dataclass(frozen=True)
class Lora:
    rank: Positive
    alpha: AboveZero
    targets: Literal["auto"] | Annotated[list[Name], NOT_EMPTY]


@dataclass(frozen=True)
class Optimizer:
    epochs: Positive
    questions_per_step: Positive
    learning_rate: AboveZero
    schedule: Literal["cosine", "constant"]
    warmup_ratio: Share
    weight_decay: NotNegative
    betas: tuple[Beta, Beta]
    max_grad_norm: AboveZero
    max_steps: Positive | None


@dataclass(frozen=True)
class DistilLoss:
    direction: Literal["forward", "reverse", "jensen_shannon"]
    choice_position: Literal["vocabulary", "letters"]
    temperature: AboveZero
    chunk_positions: Positive


@dataclass(frozen=True)
class CalibrateLoss:
    choice_position: Literal["vocabulary", "letters"]


@dataclass(frozen=True)
class Gate:
    max_copied_tokens: Annotated[int, at_least(2)]


@dataclass(frozen=True)
class Base:
    source: str
    revision: str | None
    digest: str


@dataclass(frozen=True)
class Parent:
    stage: str
    key: Hex


@dataclass(frozen=True)
class Lineage:
    data_digest: Hex
    split_digest: Hex
    fold: Count | None
    base: Base
    tokenizer_digest: Hex
    parents: list[Parent]


@dataclass(frozen=True)
class TaskBase:
    key: Hex
    label: str
    folder: str
    seed: Count
    prompts: str
    ids: Annotated[list[Name], NOT_EMPTY]
    lineage: Lineage


@dataclass(frozen=True)
class GenerateTask(TaskBase):
    stage: Literal["generate"]
    role: Literal["teacher", "student"]
    adapter: str | None
    samples: Positive
    decode: Decode
    gate: Gate | None


@dataclass(frozen=True)
class DistilTask(TaskBase):
    stage: Literal["distil"]
    traces: str
    lora: Lora
    loss: DistilLoss
    optimizer: Optimizer


@dataclass(frozen=True)
class CalibrateTask(TaskBase):
    stage: Literal["calibrate"]
    traces: str
    adapter: str
    loss: CalibrateLoss
    optimizer: Optimizer


@dataclass(frozen=True)
class ScoreTask(TaskBase):
    stage: Literal["score"]
    checkpoint: Literal["base", "distilled", "calibrated"]
    adapter: str | None
    samples: Positive
    decode: Decode


StageTask = GenerateTask | DistilTask | CalibrateTask | ScoreTask


@dataclass(frozen=True)
class Model:
    path: str
    digest: str
    dtype: Literal["float32", "bfloat16"]
    device: Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True)
class Execution:
    """Never part of an identity: the results depend on it by rounding alone (forms.py)."""

    threads: Positive | None
    checkpoint_every_steps: Positive
    form: Literal["shared", "reference"]
    gradient_checkpointing: bool
    offload_activations: bool


@dataclass(frozen=True)
class ResolveJob:
    protocol: Literal[1]
    kind: Literal["resolve"]
    source: Name
    revision: str | None
    cache_dir: str
    tokenizer_only: bool


@dataclass(frozen=True)
class StagesJob:
    protocol: Literal[1]
    kind: Literal["stages"]
    job: str
    model: Model
    execution: Execution
    stages: Annotated[list[StageTask], NOT_EMPTY]


Job = ResolveJob | StagesJob


def read_job(path: Path) -> Job:
    """Parse and check job.json; everything after this trusts the types."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse_constant)
    except (OSError, ValueError) as cause:
        raise BadInput(f"{path}: {cause}") from cause
    version = value.get("protocol") if isinstance(value, dict) else None
    if version != PROTOCOL_VERSION:
        raise BadInput(
            f"{path}: protocol is {version!r}, this bridge speaks {PROTOCOL_VERSION}",
            "Install orchestrator and python-bridge of one version.",
        )
    return read(Job, value, "job")


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def check_event(line: dict[str, Any]) -> None:
    """Refuses a line that orchestrator/bridge/protocol.ts would refuse."""
    from palate_bridge.event_kinds import Event

    read(Event, line, "event")

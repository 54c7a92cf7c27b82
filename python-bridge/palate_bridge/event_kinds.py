"""What a job tells while it runs: one class an event kind, twin of eventSchema in protocol.ts.

`t` is seconds since the job started. A Figure is None where the number was NaN or infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from palate_bridge.protocol import Count, Hex, NotNegative, Positive

Figure = float | None


@dataclass(frozen=True)
class JobStarted:
    event: Literal["job_started"]
    t: NotNegative
    protocol: Literal[1]
    pid: Count
    start_ticks: Count | None
    device: str
    threads: Count
    versions: dict[str, str]


@dataclass(frozen=True)
class ModelResolved:
    event: Literal["model_resolved"]
    t: NotNegative
    path: str
    revision: str | None
    digest: str
    architecture: str


@dataclass(frozen=True)
class ModelLoaded:
    event: Literal["model_loaded"]
    t: NotNegative
    seconds: NotNegative
    parameters: Count


@dataclass(frozen=True)
class StageStarted:
    event: Literal["stage_started"]
    t: NotNegative
    key: Hex
    attempt: Positive
    done: Count
    total: Count


@dataclass(frozen=True)
class Progress:
    event: Literal["progress"]
    t: NotNegative
    key: Hex
    done: Count
    total: Count
    tokens: Count
    tokens_per_second: Figure
    eta_seconds: Figure


@dataclass(frozen=True)
class Step:
    event: Literal["step"]
    t: NotNegative
    key: Hex
    step: Positive
    total: Count
    loss: Figure
    grad_norm: Figure
    learning_rate: float
    supervised_tokens: Count
    tokens: Count
    tokens_per_second: Figure
    eta_seconds: Figure


@dataclass(frozen=True)
class CheckpointSaved:
    event: Literal["checkpointed"]
    t: NotNegative
    key: Hex
    done: Count


@dataclass(frozen=True)
class Warned:
    event: Literal["warning"]
    t: NotNegative
    key: Hex | None
    code: str
    message: str


@dataclass(frozen=True)
class Heartbeat:
    event: Literal["heartbeat"]
    t: NotNegative
    rss_bytes: Count
    accelerator_bytes: Count | None


@dataclass(frozen=True)
class StageDone:
    event: Literal["stage_done"]
    t: NotNegative
    key: Hex
    seconds: NotNegative


@dataclass(frozen=True)
class Failed:
    event: Literal["failed"]
    t: NotNegative
    key: Hex | None
    exit_code: Count
    message: str
    next_step: str | None


@dataclass(frozen=True)
class JobDone:
    event: Literal["job_done"]
    t: NotNegative


Event = (
    JobStarted
    | ModelResolved
    | ModelLoaded
    | StageStarted
    | Progress
    | Step
    | CheckpointSaved
    | Warned
    | Heartbeat
    | StageDone
    | Failed
    | JobDone
)

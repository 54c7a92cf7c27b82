"""What a stage function gets and gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from palate_bridge.events import EventChannel
    from palate_bridge.model import LoadedModel
    from palate_bridge.protocol import Execution, StageTask


@dataclass(frozen=True)
class StageContext:
    task: StageTask
    folder: Path
    loaded: LoadedModel
    events: EventChannel
    execution: Execution
    attempt: int
    """Read in every micro-step and every generated token: has anyone asked the job to stop?"""
    stop_requested: Callable[[], bool]
    """Raises Fenced when a newer attempt holds the lease; called before every write."""
    check_lease: Callable[[], None]


@dataclass(frozen=True)
class StageOutcome:
    """Becomes result.json (protocol.ts, stageResultSchema); `files` are names inside the stage folder."""

    files: list[str]
    adapter_sha256: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    figures: dict[str, float | None] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

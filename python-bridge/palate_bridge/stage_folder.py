"""A stage is done when result.json is there: written last, by rename, with the hash of every file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palate_bridge.errors import JobError
from palate_bridge.events import finite
from palate_bridge.files import sha256_file, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from palate_bridge.context import StageOutcome
    from palate_bridge.protocol import StageTask

RESULT = "result.json"


def is_done(task: StageTask) -> bool:
    return (Path(task.folder) / RESULT).exists()


def finish(task: StageTask, outcome: StageOutcome, seconds: float, check_lease: Callable[[], None]) -> None:
    folder = Path(task.folder)
    result: dict[str, Any] = {
        "stage": task.stage,
        "key": task.key,
        "seconds": round(seconds, 3),
        "files": {name: sha256_of(folder, name) for name in sorted(outcome.files)},
        "adapter_sha256": outcome.adapter_sha256,
        "counts": outcome.counts,
        "figures": {name: finite(value) for name, value in outcome.figures.items()},
        "warnings": outcome.warnings,
    }
    check_lease()
    write_json(folder / RESULT, result)
    remove_checkpoints(folder)


def read_result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / RESULT).read_text(encoding="utf-8"))


def sha256_of(folder: Path, name: str) -> str:
    path = folder / name
    if not path.is_file() or path.stat().st_size == 0:
        raise JobError(f"{path}: the stage ended without writing it.")
    return sha256_file(path)


def remove_checkpoints(folder: Path) -> None:
    """Only needed to resume, and there is nothing left to resume."""
    for path in folder.glob("checkpoint-*"):
        shutil.rmtree(path, ignore_errors=True)

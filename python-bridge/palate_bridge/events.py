"""The one way a job speaks: JSON lines on fd 3, and the same lines in events.jsonl beside job.json."""

from __future__ import annotations

import json
import math
import os
import stat
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from palate_bridge.protocol import check_event

EVENT_FD = 3
HEARTBEAT_SECONDS = 10.0


class EventChannel:
    """Thread-safe; each line is written whole. A reader that went away is no reason to stop."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._pipe: int | None = EVENT_FD if is_pipe(EVENT_FD) else None
        self._file = open_log(folder / "events.jsonl")
        self._ended = threading.Event()

    def emit(self, event: str, **fields: Any) -> None:
        """Raises BadInput when the line is not one that protocol.ts accepts."""
        line = {"event": event, "t": round(time.monotonic() - self._started, 3)}
        line |= {name: finite(value) for name, value in fields.items()}
        check_event(line)
        data = (json.dumps(line, allow_nan=False) + "\n").encode("ascii")
        with self._lock:
            write_all(self._file, data)
            self._write_pipe(data)

    def _write_pipe(self, data: bytes) -> None:
        if self._pipe is None:
            return
        try:
            write_all(self._pipe, data)
        except OSError:
            self._pipe = None

    def start_heartbeat(self) -> None:
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()

    def stop_heartbeat(self) -> None:
        self._ended.set()

    def _beat(self) -> None:
        while not self._ended.wait(HEARTBEAT_SECONDS):
            self.emit(
                "heartbeat",
                rss_bytes=psutil.Process().memory_info().rss,
                accelerator_bytes=accelerator_bytes(),
            )


def is_pipe(descriptor: int) -> bool:
    """Only a pipe or socket is Node's channel; any other open fd 3 belongs to someone else."""
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    os.set_inheritable(descriptor, False)
    return True


def open_log(path: Path) -> int:
    """For appending; a line torn by a kill is taken off first, so that the file stays lines."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    content = path.read_bytes()
    os.ftruncate(descriptor, content.rfind(b"\n") + 1)
    return descriptor


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def accelerator_bytes() -> int | None:
    """Reserved by torch on the current CUDA device; never the reason that torch or CUDA is loaded."""
    import sys

    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    return torch.cuda.memory_reserved()

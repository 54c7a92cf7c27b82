"""Who may write into a stage folder: the newest attempt, and nobody else.

attempts/<n>.json is created exclusively, so numbers are unique; lease.json names the newest holder. An older
attempt that is still alive somewhere sees the newer lease before its next write and stops (Fenced).
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

from palate_bridge.errors import BadInput, Fenced
from palate_bridge.files import write_json


@dataclass(frozen=True)
class Lease:
    folder: Path
    attempt: int

    def check(self) -> None:
        holder = held_by(self.folder)
        if holder > self.attempt:
            raise Fenced(f"{self.folder}: attempt {holder} has taken over from attempt {self.attempt}.")
        if holder < self.attempt:
            write_lease(self.folder, self.attempt)


def take_lease(folder: Path, job: str) -> Lease:
    """Raises Fenced when a newer attempt appears while this one starts."""
    attempt = claim_number(folder, job)
    if held_by(folder) < attempt:
        write_lease(folder, attempt)
    lease = Lease(folder, attempt)
    newest = max(numbers(folder / "attempts"))
    if newest > attempt:
        raise Fenced(f"{folder}: attempt {newest} started while attempt {attempt} did.")
    lease.check()
    remove_leftovers(folder)
    return lease


def remove_leftovers(folder: Path) -> None:
    """What an attempt that was killed while writing left under temporary names; only the newest writes."""
    for path in folder.glob(".*.tmp"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def claim_number(folder: Path, job: str) -> int:
    attempts = folder / "attempts"
    attempts.mkdir(parents=True, exist_ok=True)
    number = max([0, held_by(folder), *numbers(attempts)])
    while True:
        number += 1
        try:
            with (attempts / f"{number}.json").open("x", encoding="utf-8") as file:
                file.write(json.dumps({"job": job, "host": socket.gethostname(), "pid": os.getpid()}) + "\n")
            return number
        except FileExistsError:
            continue


def numbers(attempts: Path) -> list[int]:
    return [int(path.stem) for path in attempts.glob("*.json") if path.stem.isdecimal()]


def held_by(folder: Path) -> int:
    """Attempt number in lease.json; 0 where there is none."""
    path = folder / "lease.json"
    try:
        attempt = json.loads(path.read_text(encoding="utf-8"))["attempt"]
    except FileNotFoundError:
        return 0
    except (ValueError, KeyError, TypeError) as cause:
        raise BadInput(f"{path}: not a lease", "Delete it if no job works on this stage.") from cause
    return int(attempt)


def write_lease(folder: Path, attempt: int) -> None:
    write_json(
        folder / "lease.json",
        {
            "attempt": attempt,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "start_ticks": start_ticks(),
        },
    )


def start_ticks() -> int | None:
    """Clock ticks after boot at which this process started: with the pid, it names one process for good."""
    try:
        text = Path("/proc/self/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[19])

"""The job lives no longer than whoever started it, and takes its children along.

SIGTERM, SIGUSR2 and SIGINT ask it to stop: a flag that training and decoding read. When the parent is gone
(stdin at its end, or another parent than at the start) the same flag is set, and after GRACE_SECONDS the
process ends by itself, saved or not: a resume repeats what was not saved.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import stat
import sys
import threading
import time

import psutil

CHECKPOINTED = 75
GRACE_SECONDS = 4.0
POLL_SECONDS = 0.5
PR_SET_PDEATHSIG = 1
STOP_SIGNALS = (signal.SIGTERM, signal.SIGUSR2, signal.SIGINT)


class Lifeline:
    """The flag is a plain attribute: a signal handler that takes a lock, as threading.Event does, waits for
    itself when a second signal finds it holding that lock.
    """

    def __init__(self) -> None:
        self._stop = False
        self._leave_at_once = False

    def start(self) -> None:
        own_process_group()
        for number in STOP_SIGNALS:
            signal.signal(number, self._on_signal)
        parent = os.getppid()
        signal_on_parent_death()
        threading.Thread(target=self._watch, args=(parent,), name="lifeline", daemon=True).start()

    def stop_requested(self) -> bool:
        return self._stop

    def leave_at_once(self) -> None:
        """For work with nothing in memory worth saving (resolve): a signal ends the process directly."""
        self._leave_at_once = True
        if self._stop:
            end_process(CHECKPOINTED)

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._stop = True
        if self._leave_at_once:
            end_process(CHECKPOINTED)

    def _watch(self, parent: int) -> None:
        watched = stdin_channel()
        while os.getppid() == parent and not at_end(watched):
            pass
        self._stop = True
        time.sleep(GRACE_SECONDS)
        end_process(CHECKPOINTED)


def own_process_group() -> None:
    """So that whoever started the job can end it with everything below it, and nothing else."""
    if os.getpgrp() != os.getpid():
        with contextlib.suppress(PermissionError):
            os.setsid()


def signal_on_parent_death() -> None:
    """Linux only; elsewhere the watcher's polling is enough."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def stdin_channel() -> int | None:
    """Node holds the other end of a pipe or socket; a terminal, a file or /dev/null says nothing about it."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return None
    return 0 if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else None


def at_end(descriptor: int | None) -> bool:
    """Wait up to POLL_SECONDS; true when the other end was closed. What is sent is dropped."""
    if descriptor is None:
        time.sleep(POLL_SECONDS)
        return False
    ready, _, _ = select.select([descriptor], [], [], POLL_SECONDS)
    if not ready:
        return False
    try:
        return os.read(descriptor, 4096) == b""
    except OSError:
        return True


def end_process(code: int) -> None:
    try:
        end_children()
    finally:
        os._exit(code)


def end_children() -> None:
    """Every descendant of this process, and nothing by name."""
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()

"""How far a stage of replies is, told about once a second."""

from __future__ import annotations

import time

from palate_bridge.context import StageContext

SECONDS_BETWEEN = 1.0


class Progress:
    """done and total count replies; tokens and rates are those of this attempt."""

    def __init__(self, context: StageContext, done: int, total: int) -> None:
        self._events, self._key = context.events, context.task.key
        self._done, self._total, self._before, self._tokens = done, total, done, 0
        self._started = self._told = time.monotonic()
        self._events.emit("stage_started", key=self._key, attempt=context.attempt, done=done, total=total)

    def advance(self, tokens: int) -> None:
        self._done += 1
        self._tokens += tokens
        if time.monotonic() - self._told >= SECONDS_BETWEEN:
            self.tell()

    def tell(self) -> None:
        self._told = time.monotonic()
        seconds = self._told - self._started
        answered = self._done - self._before
        self._events.emit(
            "progress",
            key=self._key,
            done=self._done,
            total=self._total,
            tokens=self._tokens,
            tokens_per_second=self._tokens / seconds if seconds > 0 else None,
            eta_seconds=seconds / answered * (self._total - self._done) if answered else None,
        )

    def saved(self) -> None:
        self._events.emit("checkpointed", key=self._key, done=self._done)

"""The first event of a job: who it is and what it runs on."""

from __future__ import annotations

import os

from palate_bridge.events import EventChannel
from palate_bridge.lease import start_ticks
from palate_bridge.protocol import PROTOCOL_VERSION
from palate_bridge.versions import versions


def announce(events: EventChannel, device: str, threads: int) -> None:
    events.emit(
        "job_started",
        protocol=PROTOCOL_VERSION,
        pid=os.getpid(),
        start_ticks=start_ticks(),
        device=device,
        threads=threads,
        versions=versions(),
    )

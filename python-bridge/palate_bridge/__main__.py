"""One job: `python -m palate_bridge job.json`. Events go out on fd 3, the verdict is the exit code.

torch is imported only after job.json has been read and found right.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path

from palate_bridge.announce import announce
from palate_bridge.errors import Checkpointed, JobError, OutOfAcceleratorMemory
from palate_bridge.events import EventChannel
from palate_bridge.lifeline import Lifeline, end_children
from palate_bridge.protocol import ResolveJob, StagesJob, read_job

BAD_INPUT = 78


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="palate_bridge", description=__doc__)
    parser.add_argument("job", type=Path, help="job.json; events.jsonl is written beside it")
    path: Path = parser.parse_args(arguments).job.absolute()
    if not path.is_file():
        print(f"{path}: no such file", file=sys.stderr)
        return BAD_INPUT
    lifeline = Lifeline()
    lifeline.start()
    events = EventChannel(path.parent)
    events.start_heartbeat()
    try:
        return run(path, events, lifeline)
    finally:
        events.stop_heartbeat()
        end_children()


def run(path: Path, events: EventChannel, lifeline: Lifeline) -> int:
    try:
        job = read_job(path)
        if isinstance(job, ResolveJob):
            run_resolve(job, events, lifeline)
        else:
            run_stages(job, events, lifeline)
        events.emit("job_done")
        return 0
    except Checkpointed as stopped:
        print(stopped.message, file=sys.stderr)
        return stopped.exit_code
    except Exception as cause:
        traceback.print_exc()
        return report_failure(as_job_error(cause), getattr(cause, "stage_key", None), events)


def run_resolve(job: ResolveJob, events: EventChannel, lifeline: Lifeline) -> None:
    from palate_bridge.resolve import resolve

    announce(events, device="cpu", threads=1)
    lifeline.leave_at_once()
    found = resolve(job)
    events.emit(
        "model_resolved",
        path=str(found.path),
        revision=found.revision,
        digest=found.digest,
        architecture=found.architecture,
    )


def run_stages(job: StagesJob, events: EventChannel, lifeline: Lifeline) -> None:
    # Read by these libraries when they are imported: a job of stages never goes to the network.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    from palate_bridge.stages import run_all

    run_all(job, events, lifeline.stop_requested)


def as_job_error(cause: Exception) -> JobError:
    if isinstance(cause, JobError):
        return cause
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(cause, torch.OutOfMemoryError):
        return OutOfAcceleratorMemory(
            "The accelerator ran out of memory: " + str(cause).splitlines()[0],
            "Set execution.gradient_checkpointing, then offload_activations, or lower loss.chunk_positions.",
        )
    return JobError(f"{type(cause).__name__}: {cause}")


def report_failure(failure: JobError, key: str | None, events: EventChannel) -> int:
    events.emit(
        "failed",
        key=key,
        exit_code=failure.exit_code,
        message=failure.message,
        next_step=failure.next_step,
    )
    return failure.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The stages of a job, one after another, over one base model that is loaded when the first one needs it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch

from palate_bridge import calibrate, distil, generate, score
from palate_bridge.announce import announce
from palate_bridge.context import StageContext
from palate_bridge.errors import Checkpointed
from palate_bridge.events import EventChannel
from palate_bridge.lease import take_lease
from palate_bridge.model import LoadedModel, load_model, pick_device
from palate_bridge.protocol import StagesJob, StageTask
from palate_bridge.stage_folder import finish, is_done

STAGES = {
    "generate": generate.run,
    "distil": distil.run,
    "calibrate": calibrate.run,
    "score": score.run,
}


def run_all(job: StagesJob, events: EventChannel, stop_requested: Callable[[], bool]) -> None:
    set_up_torch(job)
    announce(events, device=str(pick_device(job.model.device)), threads=torch.get_num_threads())
    loaded: LoadedModel | None = None
    for task in job.stages:
        if is_done(task):
            events.emit("stage_done", key=task.key, seconds=0.0)
            continue
        if stop_requested():
            raise Checkpointed("Stopped between stages.")
        loaded = loaded or load(job, events)
        try:
            run_stage(job, task, loaded, events, stop_requested)
        except Exception as cause:
            # Read where the failure becomes an event (__main__.py): it tells which stage failed.
            cause.stage_key = task.key  # type: ignore[attr-defined]
            raise


def run_stage(
    job: StagesJob,
    task: StageTask,
    loaded: LoadedModel,
    events: EventChannel,
    stop_requested: Callable[[], bool],
) -> None:
    started = time.monotonic()
    folder = Path(task.folder)
    lease = take_lease(folder, job.job)
    context = StageContext(
        task=task,
        folder=folder,
        loaded=loaded,
        events=events,
        execution=job.execution,
        attempt=lease.attempt,
        stop_requested=stop_requested,
        check_lease=lease.check,
    )
    outcome = STAGES[task.stage](context)
    seconds = time.monotonic() - started
    finish(task, outcome, seconds, lease.check)
    events.emit("stage_done", key=task.key, seconds=round(seconds, 3))


def load(job: StagesJob, events: EventChannel) -> LoadedModel:
    started = time.monotonic()
    loaded = load_model(job.model.path, job.model.digest, job.model.dtype, job.model.device)
    parameters = sum(weight.numel() for weight in loaded.base.parameters())
    events.emit("model_loaded", seconds=round(time.monotonic() - started, 3), parameters=parameters)
    return loaded


def set_up_torch(job: StagesJob) -> None:
    """Bit for bit on a CPU; on CUDA the operations that have no deterministic form only warn."""
    if job.execution.threads is not None:
        torch.set_num_threads(job.execution.threads)
    torch.use_deterministic_algorithms(True, warn_only=pick_device(job.model.device).type != "cpu")
    # Only a debugging aid of that mode, and not for free.
    torch.utils.deterministic.fill_uninitialized_memory = False  # pyright: ignore[reportAttributeAccessIssue]
    torch.manual_seed(0)

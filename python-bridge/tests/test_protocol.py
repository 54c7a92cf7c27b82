"""The wire contract: the lines both languages read, and what is refused at the door."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from palate_bridge.errors import BadInput
from palate_bridge.event_kinds import Event
from palate_bridge.protocol import DistilTask, ResolveJob, StagesJob, check_event, read_job

GOLDEN = Path(__file__).parents[2] / "test" / "fixtures" / "protocol"
JOB = json.loads((GOLDEN / "job.json").read_text("utf-8"))
LINES = [json.loads(line) for line in (GOLDEN / "events.jsonl").read_bytes().split(b"\n")[:-1]]


def read(job: Any, folder: Path) -> Any:
    path = folder / "job.json"
    path.write_text(json.dumps(job), encoding="utf-8")
    return read_job(path)


def changed(path: list[str | int], value: Any) -> Any:
    """The golden job with one value set; `...` deletes it."""
    job = copy.deepcopy(JOB)
    place = job
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return job


def test_the_golden_jobs_are_read_with_every_kind_of_stage() -> None:
    job = read_job(GOLDEN / "job.json")
    assert isinstance(job, StagesJob)
    assert {task.stage for task in job.stages} == {"generate", "distil", "calibrate", "score"}
    distil = job.stages[1]
    assert isinstance(distil, DistilTask)
    assert (distil.lora.targets, distil.optimizer.betas) == ("auto", (0.9, 0.999))
    assert isinstance(read_job(GOLDEN / "resolve-job.json"), ResolveJob)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line["event"])
def test_the_golden_events_are_valid(line: dict[str, Any]) -> None:
    check_event(line)


def test_the_golden_events_are_of_every_kind() -> None:
    kinds = {get_args(get_type_hints(kind)["event"])[0] for kind in get_args(Event)}
    assert {line["event"] for line in LINES} == kinds


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (["protocol"], 2, "protocol is 2"),
        (["kind"], "serve", "job.kind"),
        (["extra"], 1, "job.extra: unknown key"),
        (["stages", 0, "decode", "temperature"], ..., r"stages\[0\].decode.temperature: missing"),
        (["stages", 0, "decode", "temperature"], "1", r"stages\[0\].decode.temperature: must be a number"),
        (["stages", 0, "decode", "temperature"], -1, r"stages\[0\].decode.temperature: must be at least 0"),
        (["stages", 0, "decode", "top_p"], 0, r"stages\[0\].decode.top_p: must be above 0"),
        (["stages", 0, "samples"], True, r"stages\[0\].samples: must be a whole number"),
        (["stages", 0, "samples"], 1.5, r"stages\[0\].samples: must be a whole number"),
        (["stages", 0, "key"], "A" * 64, r"stages\[0\].key: must be 64 hex digits"),
        (["stages", 1, "lora", "targets"], [], r"stages\[1\].lora.targets: must be not empty"),
        (["stages", 1, "optimizer", "betas"], [0.9], r"stages\[1\].optimizer.betas: must be a list of 2"),
        (["stages", 1, "optimizer", "betas", 1], 1, r"stages\[1\].optimizer.betas\[1\]: must be below 1"),
        (["stages", 1, "loss", "direction"], "backward", r"stages\[1\].loss.direction: must be one of"),
        (["stages", 1, "samples"], 1, r"stages\[1\].samples: unknown key"),
        (["stages", 2, "stage"], "distill", r"stages\[2\].stage: must be one of"),
        (["stages", 3, "adapter"], None, r"stages\[3\].adapter: must be a string"),
        (["stages", 4, "ids"], [], r"stages\[4\].ids: must be not empty"),
        (["model"], None, "job.model: must be an object"),
        (["stages"], [], "job.stages: must be not empty"),
    ],
)
def test_a_wrong_job_is_refused_by_the_path_of_what_is_wrong(
    path: list[str | int], value: Any, named: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=named):
        read(changed(path, value), tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"protocol": 1, "kind": NaN}', "\ufeff{}"])
def test_what_is_no_json_object_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput):
        read_job(tmp_path / "job.json")


@pytest.mark.parametrize(
    "line",
    [
        {"event": "finished", "t": 1},
        {"event": "job_done"},
        {"event": "job_done", "t": -1},
        {"event": "job_done", "t": 1, "more": 1},
        {"event": "stage_done", "t": 1, "key": "x", "seconds": 1},
        {"event": "heartbeat", "t": 1, "rss_bytes": 1.5, "accelerator_bytes": None},
    ],
)
def test_an_event_that_node_would_refuse_is_refused_here(line: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        check_event(line)

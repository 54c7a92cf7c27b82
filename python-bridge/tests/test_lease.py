"""One writer a stage folder: the newest attempt."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from palate_bridge.errors import BadInput, Fenced
from palate_bridge.lease import start_ticks, take_lease
from tests.training import BRIDGE


def test_attempts_are_numbered_and_the_newest_holds_the_lease(tmp_path: Path) -> None:
    first, second = take_lease(tmp_path, "job-1"), take_lease(tmp_path, "job-2")
    assert (first.attempt, second.attempt) == (1, 2)
    lease = json.loads((tmp_path / "lease.json").read_text("utf-8"))
    assert sorted(lease) == ["attempt", "host", "pid", "start_ticks"]
    assert (lease["attempt"], lease["start_ticks"]) == (2, start_ticks())
    assert json.loads((tmp_path / "attempts" / "1.json").read_text("utf-8"))["job"] == "job-1"
    second.check()
    with pytest.raises(Fenced):
        first.check()


def test_an_older_attempt_that_writes_late_does_not_take_the_lease_back(tmp_path: Path) -> None:
    take_lease(tmp_path, "job-1")
    second = take_lease(tmp_path, "job-2")
    lease = tmp_path / "lease.json"
    lease.write_text(json.dumps(json.loads(lease.read_text("utf-8")) | {"attempt": 1}))
    second.check()
    assert json.loads(lease.read_text("utf-8"))["attempt"] == 2


def test_many_at_once_get_different_numbers_and_one_stays(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from palate_bridge.lease import take_lease\n"
        "from palate_bridge.errors import Fenced\n"
        "try:\n"
        "    print(take_lease(pathlib.Path(sys.argv[1]), 'job').attempt)\n"
        "except Fenced:\n"
        "    print('fenced')\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], cwd=BRIDGE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    said = [process.communicate(timeout=60)[0].strip() for process in running]
    assert "6" in said
    numbers = [word for word in said if word != "fenced"]
    assert len(set(numbers)) == len(numbers)
    assert json.loads((tmp_path / "lease.json").read_text("utf-8"))["attempt"] == 6


def test_a_lease_that_is_no_lease_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "lease.json").write_text("{}")
    with pytest.raises(BadInput, match="not a lease"):
        take_lease(tmp_path, "job")

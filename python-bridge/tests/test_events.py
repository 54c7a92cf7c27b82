"""What a job says is whole lines of the protocol, or it is not said."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from palate_bridge.errors import BadInput
from palate_bridge.events import EventChannel

KEY = "a" * 64


def lines(folder: Path) -> list[bytes]:
    content = (folder / "events.jsonl").read_bytes()
    assert content.endswith(b"\n")
    return content.split(b"\n")[:-1]


def test_numbers_that_json_does_not_have_become_null(tmp_path: Path) -> None:
    EventChannel(tmp_path).emit(
        "progress",
        key=KEY,
        done=0,
        total=1,
        tokens=0,
        tokens_per_second=float("nan"),
        eta_seconds=float("inf"),
    )
    [line] = lines(tmp_path)
    assert json.loads(line)["tokens_per_second"] is json.loads(line)["eta_seconds"] is None


def test_text_of_any_kind_stays_on_one_line(tmp_path: Path) -> None:
    message = "one\ntwo\u2028three \ud800 \x00"
    EventChannel(tmp_path).emit("warning", key=None, code="odd", message=message)
    [line] = lines(tmp_path)
    assert json.loads(line)["message"] == message


@pytest.mark.parametrize(
    "fields", [{}, {"key": KEY}, {"key": KEY, "seconds": -1}, {"key": "x", "seconds": 1}]
)
def test_an_event_with_other_fields_is_not_said(fields: dict[str, object], tmp_path: Path) -> None:
    channel = EventChannel(tmp_path)
    with pytest.raises(BadInput):
        channel.emit("stage_done", **fields)
    assert (tmp_path / "events.jsonl").read_bytes() == b""


def test_threads_that_speak_at_once_do_not_mix_their_lines(tmp_path: Path) -> None:
    channel = EventChannel(tmp_path)

    def speak(code: str) -> None:
        for _ in range(50):
            channel.emit("warning", key=None, code=code, message=code * 500)

    threads = [threading.Thread(target=speak, args=(code,)) for code in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [json.loads(line) for line in lines(tmp_path)]
    assert len(said) == 200
    assert all(line["message"] == line["code"] * 500 for line in said)

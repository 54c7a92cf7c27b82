"""Replies on disk while a stage runs: JSON lines that survive a kill at any byte."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from palate_bridge.errors import BadInput
from palate_bridge.files import write_atomic
from palate_bridge.records import Key, Record
from palate_bridge.strict import read

PARTIAL = "records.partial.jsonl"
RECORDS = "records.jsonl"


def resume_records(path: Path, wanted: Collection[Key]) -> dict[Key, Record]:
    """The whole records of an earlier attempt; a last line without its end is cut off.

    The file is replaced by a copy, so that an older attempt that is still alive somewhere writes on into a
    file that nobody reads. Raises BadInput naming the line where a whole line is no record, is there twice,
    or is not of this stage.
    """
    content = path.read_bytes() if path.exists() else b""
    whole = content[: content.rfind(b"\n") + 1]
    found: dict[Key, Record] = {}
    asked = frozenset(wanted)
    for number, line in enumerate(whole.split(b"\n")[:-1], start=1):
        record = read_line(line, f"{path}, line {number}")
        if record.key in found or record.key not in asked:
            problem = "is there twice" if record.key in found else "is not of this stage"
            raise BadInput(f"{path}, line {number}: {record.key} {problem}", f"Delete {path} and run again.")
        found[record.key] = record
    write_atomic(path, whole)
    return found


def read_line(line: bytes, where: str) -> Record:
    try:
        value = json.loads(line.decode("utf-8"))
    except ValueError as cause:
        raise BadInput(f"{where}: no JSON record: {cause}", "Delete the file and run again.") from cause
    return read(Record, value, where)


def append_record(file: BinaryIO, record: Record) -> None:
    """Handed to the system at once: a killed process loses at most the line it was writing."""
    file.write(to_line(record))
    file.flush()


def write_records(path: Path, records: Iterable[Record]) -> None:
    write_atomic(path, b"".join(map(to_line, records)))


def to_line(record: Record) -> bytes:
    text = json.dumps(asdict(record), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8") + b"\n"

"""The presentations that Node rendered and encoded; twin of orchestrator/runs/prompts-file.ts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from palate_bridge.errors import BadInput

ORDERS = ("published", "reversed")

SCHEMA = {
    "question_id": pa.utf8(),
    "order": pa.utf8(),
    "supported": pa.utf8(),
    "student_ids": pa.list_(pa.int32()),
    "teacher_ids": pa.list_(pa.int32()),
    "demonstration_ids": pa.list_(pa.int32()),
    "student_text": pa.utf8(),
    "teacher_text": pa.utf8(),
    "opens_thinking": pa.bool_(),
}


@dataclass(frozen=True)
class Presentation:
    """One question in one order: prompts end in the assistant header, thinking mark included."""

    question_id: str
    order: str
    supported: str
    student_ids: list[int]
    teacher_ids: list[int]
    demonstration_ids: list[int]
    student_text: str
    teacher_text: str
    opens_thinking: bool


Presentations = dict[tuple[str, str], Presentation]


def read_prompts(path: Path | str) -> Presentations:
    """By (question_id, order). Raises BadInput naming file, row and column."""
    table = read_table(Path(path))
    check_columns(Path(path), table.schema)
    found: Presentations = {}
    for row, values in enumerate(table.to_pylist()):
        presentation = Presentation(**values)
        check_row(f"{path}, row {row}", presentation)
        key = (presentation.question_id, presentation.order)
        if key in found:
            raise BadInput(f"{path}, row {row}: question {key[0]} ({key[1]}) is there twice")
        found[key] = presentation
    return found


def both_orders(presentations: Presentations, ids: list[str]) -> list[Presentation]:
    """ids x [published, reversed]: the order in which everything is answered and written."""
    missing = [(id, order) for id in ids for order in ORDERS if (id, order) not in presentations]
    if missing:
        raise BadInput(
            f"the prompts file has no presentation of question {missing[0][0]} ({missing[0][1]}),"
            f" {len(missing)} are missing"
        )
    return [presentations[id, order] for id in ids for order in ORDERS]


def read_table(path: Path) -> pa.Table:
    try:
        with pa.OSFile(str(path), "rb") as source, pa.ipc.open_stream(source) as stream:
            return stream.read_all()
    except (OSError, pa.ArrowInvalid) as cause:
        raise BadInput(
            f"{path} is no Arrow stream of prompts: {cause}", "Build the prompts again."
        ) from cause


def check_columns(path: Path, schema: pa.Schema) -> None:
    for name in schema.names:
        if name not in SCHEMA:
            raise BadInput(f"{path}: unknown column {name}")
    for name, wanted in SCHEMA.items():
        if name not in schema.names:
            raise BadInput(f"{path}: no column {name}")
        kind = schema.field(name).type
        # The name and the nullability of a list's items differ between writers and mean nothing here.
        same = (
            pa.types.is_list(kind) and kind.value_type == pa.int32()
            if pa.types.is_list(wanted)
            else kind == wanted
        )
        if not same:
            raise BadInput(f"{path}: column {name} is {kind}, not {wanted}")


def check_row(where: str, presentation: Presentation) -> None:
    for name in SCHEMA:
        value = getattr(presentation, name)
        if value is None or (isinstance(value, list) and None in value):
            raise BadInput(f"{where}: {name} is null")
    if presentation.order not in ORDERS:
        raise BadInput(f"{where}: order is {presentation.order!r}, not published or reversed")
    if presentation.supported not in ("A", "B"):
        raise BadInput(f"{where}: supported is {presentation.supported!r}, not A or B")
    for name in ("student_ids", "teacher_ids"):
        if not getattr(presentation, name):
            raise BadInput(f"{where}: {name} is empty")

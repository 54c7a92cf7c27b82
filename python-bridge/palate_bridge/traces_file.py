"""traces.arrow: every trace of a generate stage, rejected ones too, for training and for people."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from palate_bridge.errors import BadInput
from palate_bridge.files import write_atomic
from palate_bridge.prompts_file import read_table
from palate_bridge.records import Trace
from palate_bridge.strict import read

TRACES = "traces.arrow"
ROWS_A_BATCH = 256

SCHEMA = pa.schema(
    [
        pa.field("question_id", pa.utf8(), nullable=False),
        pa.field("order", pa.utf8(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("checkpoint", pa.utf8(), nullable=False),
        pa.field("adapter_sha256", pa.utf8()),
        pa.field("text", pa.utf8(), nullable=False),
        pa.field("completion_ids", pa.list_(pa.field("item", pa.int32(), nullable=False)), nullable=False),
        pa.field("finish_reason", pa.utf8(), nullable=False),
        pa.field("forced_close", pa.bool_(), nullable=False),
        pa.field("forced_start", pa.int32()),
        pa.field("choice_index", pa.int32()),
        pa.field("letter_mass", pa.float64()),
        pa.field("letter_share", pa.float64()),
        pa.field("letter", pa.utf8()),
        pa.field("prompt_tokens", pa.int32(), nullable=False),
        pa.field("prompt_opens_thinking", pa.bool_(), nullable=False),
        pa.field("accepted", pa.bool_(), nullable=False),
        pa.field("reject_reason", pa.utf8()),
    ]
)


def write_traces(path: Path, traces: list[Trace]) -> None:
    """An uncompressed Arrow stream; the same traces give the same bytes."""
    table = pa.Table.from_pylist([asdict(trace) for trace in traces], schema=SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as stream:
        stream.write_table(table, max_chunksize=ROWS_A_BATCH)
    write_atomic(path, sink.getvalue().to_pybytes())


def read_traces(path: Path | str) -> list[Trace]:
    """In file order: question x [published, reversed] x sample."""
    table = read_table(Path(path))
    if table.schema.names != SCHEMA.names or table.schema.types != SCHEMA.types:
        raise BadInput(f"{path}: its columns are not those of traces: {table.schema.names}")
    return [read(Trace, row, f"{path}, row {number}") for number, row in enumerate(table.to_pylist())]

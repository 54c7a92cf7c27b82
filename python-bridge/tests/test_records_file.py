"""Records on disk: torn tails, bad lines, the finished files."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa
import pytest

from palate_bridge.errors import BadInput
from palate_bridge.prompts_file import read_prompts
from palate_bridge.records import Record, Trace
from palate_bridge.records_file import append_record, resume_records, to_line, write_records
from palate_bridge.traces_file import read_traces, write_traces
from tests.presentations import make_presentations, write_prompts
from tests.test_gate import GOOD

TORN = Path(__file__).parents[2] / "test/fixtures/cases/22-torn-results-tail/results.jsonl"
IDS = [f"i-{number}" for number in range(1, 7)]
RECORDS = [replace(GOOD, question_id=id, text=f"Reply \u2028 \U0001f600 {id}\nANSWER: A") for id in IDS]
KEYS = [record.key for record in RECORDS]


def test_a_tail_torn_inside_a_character_is_cut_and_written_again(tmp_path: Path) -> None:
    file = tmp_path / "records.partial.jsonl"
    whole = b"".join(map(to_line, RECORDS[:3]))
    torn = TORN.read_bytes()
    file.write_bytes(whole + torn[torn.rfind(b"\n") + 1 :])
    done = resume_records(file, KEYS)
    assert list(done.values()) == RECORDS[:3]
    with file.open("ab") as appended:
        for record in RECORDS[3:]:
            append_record(appended, record)
    assert file.read_bytes()[: len(whole)] == whole
    assert list(resume_records(file, KEYS)) == KEYS


def test_a_file_cut_at_any_byte_gives_the_whole_lines_before_it(tmp_path: Path) -> None:
    file = tmp_path / "records.partial.jsonl"
    content = b"".join(map(to_line, RECORDS))
    for size in range(0, len(content) + 1, 7):
        file.write_bytes(content[:size])
        assert len(resume_records(file, KEYS)) == content[:size].count(b"\n")
        assert file.read_bytes() == content[: content[:size].rfind(b"\n") + 1]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b'{"question_id": "i-2", "ord\n', "line 2: no JSON record"),
        (b"\n", "line 2: no JSON record"),
        (b"\xff\n", "line 2: no JSON record"),
        (b"{}\n", "line 2.*missing"),
        (to_line(replace(RECORDS[1], letter="C")), "line 2.letter: must be"),
        (to_line(RECORDS[0]), "line 2: .*is there twice"),
        (to_line(replace(RECORDS[0], question_id="i-9")), "line 2: .*is not of this stage"),
    ],
)
def test_a_bad_line_in_the_middle_is_named_and_nothing_is_dropped(
    tmp_path: Path, bad: bytes, said: str
) -> None:
    file = tmp_path / "records.partial.jsonl"
    content = to_line(RECORDS[0]) + bad + to_line(RECORDS[2])
    file.write_bytes(content)
    with pytest.raises(BadInput, match=said):
        resume_records(file, KEYS)
    assert file.read_bytes() == content


def test_an_older_attempt_that_still_writes_does_not_reach_the_newer_ones_file(tmp_path: Path) -> None:
    file = tmp_path / "records.partial.jsonl"
    resume_records(file, KEYS)
    with file.open("ab") as older:
        append_record(older, RECORDS[0])
        resume_records(file, KEYS)
        append_record(older, RECORDS[1])
    assert list(resume_records(file, KEYS).values()) == RECORDS[:1]


def test_finished_records_are_lines_of_json_in_the_order_given(tmp_path: Path) -> None:
    write_records(tmp_path / "records.jsonl", RECORDS)
    lines = (tmp_path / "records.jsonl").read_bytes().split(b"\n")
    assert [json.loads(line) for line in lines[:-1]] == [asdict(record) for record in RECORDS]
    assert lines[-1] == b""
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


def test_traces_are_read_as_written_and_the_same_traces_are_the_same_bytes(tmp_path: Path) -> None:
    some = [Trace(**asdict(record), accepted=True, reject_reason=None) for record in RECORDS]
    fault = {"choice_index": None, "letter_mass": None, "letter_share": None, "accepted": False}
    some[1] = replace(some[1], adapter_sha256="a" * 64, reject_reason="no_choice_position", **fault)
    files = [tmp_path / "one.arrow", tmp_path / "two.arrow"]
    for file in files:
        write_traces(file, some)
    assert read_traces(files[0]) == some
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_file_of_other_columns_is_no_traces_file(tmp_path: Path) -> None:
    table = pa.table({"question_id": ["q"]})
    with pa.OSFile(str(tmp_path / "t"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    with pytest.raises(BadInput, match="not those of traces"):
        read_traces(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"not arrow")
    with pytest.raises(BadInput, match="no Arrow stream"):
        read_traces(tmp_path / "t")


def test_prompts_are_read_by_question_and_order(tmp_path: Path, loaded_llama: object) -> None:
    asked = make_presentations(loaded_llama.tokenizer, ["q-1", "q-2"])  # type: ignore[attr-defined]
    found = read_prompts(write_prompts(tmp_path / "prompts.arrow", asked))
    assert list(found.values()) == asked
    assert list(found) == [(id, order) for id in ("q-1", "q-2") for order in ("published", "reversed")]


def test_a_prompts_file_with_a_null_a_twin_or_another_type_is_refused(
    tmp_path: Path, loaded_llama: object
) -> None:
    asked = make_presentations(loaded_llama.tokenizer, ["q-1"])  # type: ignore[attr-defined]
    faults = {
        "row 1: student_text is null": replace(asked[1], student_text=None),  # type: ignore[arg-type]
        "row 1: question q-1 .published. is there twice": asked[0],
        "row 1: supported is 'C'": replace(asked[1], supported="C"),
        "row 1: teacher_ids is empty": replace(asked[1], teacher_ids=[]),
    }
    for said, fault in faults.items():
        with pytest.raises(BadInput, match=said):
            read_prompts(write_prompts(tmp_path / "prompts.arrow", [asked[0], fault]))
    table = pa.table({"question_id": [1]})
    with pa.OSFile(str(tmp_path / "t"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    with pytest.raises(BadInput, match="column question_id is int64, not string"):
        read_prompts(tmp_path / "t")


def test_record_fields_are_those_of_the_arrow_columns() -> None:
    from palate_bridge.traces_file import SCHEMA

    assert SCHEMA.names == list(Trace.__dataclass_fields__)
    assert list(Record.__dataclass_fields__) == SCHEMA.names[:-2]

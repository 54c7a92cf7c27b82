"""What is left out of training is counted and said, and nothing is cut to fit."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from palate_bridge.errors import BadInput
from palate_bridge.model import LoadedModel
from palate_bridge.positions import why_unfit
from palate_bridge.prompts_file import Presentation
from palate_bridge.records import Trace
from palate_bridge.training_set import TrainingSet, gather
from tests.test_losses import CASES
from tests.training import make_trace

WINDOW = 32


def gathered(loaded: LoadedModel, name: str) -> TrainingSet[str]:
    """The lengths of the case's examples, as traces of one question each."""
    text = (CASES / "15-all-labels-masked" / name).read_text("utf-8")
    rows: dict[str, dict[str, Any]] = {row["id"]: row for row in map(json.loads, text.splitlines())}
    traces = [make_trace(loaded.tokenizer, id, "published") for id in rows]
    shown = {(id, "published"): object() for id in rows}

    def build(_: Presentation, trace: Trace) -> str | Any:
        row = rows[trace.question_id]
        reply = row["response_tokens"]
        return why_unfit(WINDOW, row["prompt_tokens"], reply, reply) or SimpleNamespace(id=row["id"])

    task: Any = SimpleNamespace(ids=list(rows))
    return gather(task, shown, traces, build)  # type: ignore[arg-type]


def test_examples_without_room_for_the_reply_are_left_out_and_counted(loaded_llama: LoadedModel) -> None:
    found = gathered(loaded_llama, "records.jsonl")
    assert list(found.questions) == ["ex-3"]
    assert "3 of 5 left out: no token to train on" in found.warnings
    assert "1 of 5 left out: longer than the model's window" in found.warnings
    assert (found.counts["traces_accepted"], found.counts["traces_trained"]) == (5, 1)


def test_a_set_that_leaves_nothing_is_bad_input(loaded_llama: LoadedModel) -> None:
    with pytest.raises(BadInput, match="3 of 3 left out: no token to train on"):
        gathered(loaded_llama, "all-too-long.jsonl")


def test_a_trace_without_a_prompt_is_bad_input(loaded_llama: LoadedModel) -> None:
    task: Any = SimpleNamespace(ids=["q-1"])
    traces = [make_trace(loaded_llama.tokenizer, "q-1", "published")]
    with pytest.raises(BadInput, match=r"q-1 \(published\), which has no prompt"):
        gather(task, {}, traces, lambda _shown, _trace: "never")

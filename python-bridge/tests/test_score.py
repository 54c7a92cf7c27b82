"""Stage score on tiny models."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from palate_bridge import score
from palate_bridge.errors import BadInput
from palate_bridge.model import LoadedModel
from palate_bridge.prompts_file import read_prompts
from palate_bridge.records_file import PARTIAL
from tests.stage_context import IDS, make_context, score_task
from tests.test_sampling import PLAIN
from tests.tiny import make_adapter

GREEDY = replace(PLAIN, temperature=0.0, max_reasoning_tokens=4)


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def change_weights(folder: Path, factor: float, factors_of: str) -> None:
    file = folder / "adapter_model.safetensors"
    changed = {
        name: tensor * factor if factors_of in name else tensor for name, tensor in load_file(file).items()
    }
    save_file(changed, file, metadata={"format": "pt"})


def test_each_question_is_answered_in_both_orders_back_to_back(loaded: LoadedModel, tmp_path: Path) -> None:
    task = score_task(loaded, tmp_path / "stage", GREEDY)
    outcome = score.run(make_context(loaded, task))
    lines = (tmp_path / "stage" / "records.jsonl").read_text("utf-8").split("\n")[:-1]
    records = [json.loads(line) for line in lines]
    places = [(record["question_id"], record["order"]) for record in records]
    assert places == [(id, order) for id in IDS for order in ("published", "reversed")]
    asked = read_prompts(task.prompts)
    assert all(
        record["prompt_tokens"] == len(asked[place].student_ids)
        for record, place in zip(records, places, strict=True)
    )
    assert outcome.counts == {
        "presentations": 6,
        "completion_tokens": sum(len(record["completion_ids"]) for record in records),
        "no_answer": 0,
    }


def test_greedy_scoring_is_the_same_file_with_and_without_a_kill(loaded: LoadedModel, tmp_path: Path) -> None:
    contents = []
    for name, keep in (("whole", None), ("cut", 700), ("done", 1_000_000)):
        folder = tmp_path / name
        task = score_task(loaded, folder, GREEDY)
        if keep is not None:
            (folder / PARTIAL).write_bytes((tmp_path / "whole" / PARTIAL).read_bytes()[:keep])
        score.run(make_context(loaded, task))
        contents.append((folder / "records.jsonl").read_bytes())
    assert contents[0] == contents[1] == contents[2]


def test_an_adapter_changes_what_is_scored_and_leaves_the_base_as_it_was(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    def records(name: str, checkpoint: str, adapter: Path | None) -> list[list[int]]:
        path = None if adapter is None else str(adapter)
        task = score_task(loaded, tmp_path / name, GREEDY, checkpoint=checkpoint, adapter=path)
        score.run(make_context(loaded, task))
        lines = (tmp_path / name / "records.jsonl").read_text("utf-8").split("\n")[:-1]
        return [json.loads(line)["completion_ids"] for line in lines]

    before = records("before", "base", None)
    assert records("distilled", "distilled", make_adapter(loaded, tmp_path / "adapter")) != before
    assert records("after", "base", None) == before


def test_an_untrained_adapter_is_an_error_of_its_own(loaded: LoadedModel, tmp_path: Path) -> None:
    adapter = make_adapter(loaded, tmp_path / "adapter")
    change_weights(adapter, 0.0, "lora_B")
    task = score_task(loaded, tmp_path / "stage", GREEDY, checkpoint="distilled", adapter=str(adapter))
    with pytest.raises(BadInput, match="delta is zero in every layer"):
        score.run(make_context(loaded, task))


def test_an_adapter_that_changes_no_logit_is_refused(loaded: LoadedModel, tmp_path: Path) -> None:
    adapter = make_adapter(loaded, tmp_path / "adapter")
    change_weights(adapter, 1e-30, "lora_")
    task = score_task(loaded, tmp_path / "stage", GREEDY, checkpoint="distilled", adapter=str(adapter))
    with pytest.raises(BadInput, match="the model sees q-2 as without it"):
        score.run(make_context(loaded, task))
    assert (tmp_path / "stage" / PARTIAL).read_bytes() == b""


def test_an_adapter_that_is_not_there_names_its_file(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = score_task(loaded_llama, tmp_path / "stage", GREEDY, adapter=str(tmp_path / "absent"))
    with pytest.raises(BadInput, match=r"absent/adapter_model\.safetensors: no such file"):
        score.run(make_context(loaded_llama, task))

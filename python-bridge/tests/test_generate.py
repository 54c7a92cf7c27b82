"""Stage generate on tiny models: the same traces whatever happens in between, and what is said about them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from palate_bridge import generate
from palate_bridge.decode import Writer, reply
from palate_bridge.errors import BadInput, Checkpointed, Fenced
from palate_bridge.files import sha256_file
from palate_bridge.lease import take_lease
from palate_bridge.model import LoadedModel
from palate_bridge.prompts_file import read_prompts
from palate_bridge.protocol import GenerateTask
from palate_bridge.records_file import PARTIAL
from palate_bridge.sampling import reply_rng
from palate_bridge.tokens import choice_tokens, eos_ids
from palate_bridge.traces_file import read_traces
from tests.presentations import make_presentations, write_prompts
from tests.stage_context import IDS, events_of, generate_task, make_context
from tests.test_sampling import PLAIN
from tests.tiny import make_adapter

SAMPLED = replace(PLAIN, max_reasoning_tokens=5)
CHOICE = replace(PLAIN, temperature=0.0)


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def generated(loaded: LoadedModel, task: GenerateTask, stop: Callable[[], bool] = lambda: False) -> bytes:
    generate.run(make_context(loaded, task, stop))
    return (Path(task.folder) / "traces.arrow").read_bytes()


def test_traces_come_in_the_order_of_the_ids_with_both_orders_and_all_samples(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    task = generate_task(loaded, tmp_path / "stage", SAMPLED)
    outcome = generate.run(make_context(loaded, task))
    traces = read_traces(tmp_path / "stage" / "traces.arrow")
    assert [trace.key for trace in traces] == [
        (id, order, sample) for id in IDS for order in ("published", "reversed") for sample in range(2)
    ]
    counts = outcome.counts
    assert (outcome.files, counts["presentations"], counts["traces"]) == (["traces.arrow"], 6, 12)
    assert counts["accepted"] + sum(counts[f"rejected_{reason}"] for reason in generate.REASONS) == 12
    assert counts["completion_tokens"] == sum(len(trace.completion_ids) for trace in traces)
    asked = read_prompts(task.prompts)
    assert all(trace.prompt_tokens == len(asked[trace.key[:2]].teacher_ids) for trace in traces)
    assert all(
        trace.checkpoint == "teacher" and trace.accepted == (trace.reject_reason is None) for trace in traces
    )


def test_a_trace_is_what_one_reply_gives_for_its_own_seed(loaded: LoadedModel, tmp_path: Path) -> None:
    task = generate_task(loaded, tmp_path / "stage", SAMPLED)
    generated(loaded, task)
    trace = read_traces(tmp_path / "stage" / "traces.arrow")[7]
    tokenizer = loaded.tokenizer
    writer = Writer(
        loaded, loaded.base, SAMPLED, choice_tokens(tokenizer), eos_ids(loaded.base, tokenizer), lambda: False
    )
    shown = read_prompts(task.prompts)[trace.key[:2]]
    alone = reply(writer, shown.teacher_ids, True, reply_rng(5, *trace.key))
    assert (trace.completion_ids, trace.text, trace.forced_start) == (
        alone.completion_ids,
        alone.text,
        alone.forced_start,
    )
    share = alone.share_of_a or 0
    assert trace.letter_share == (share if shown.supported == "A" else 1 - share)


def test_a_stage_killed_at_any_byte_ends_in_the_same_traces(loaded: LoadedModel, tmp_path: Path) -> None:
    whole = generated(loaded, generate_task(loaded, tmp_path / "whole", SAMPLED))
    assert generated(loaded, generate_task(loaded, tmp_path / "again", SAMPLED)) == whole
    content = (tmp_path / "whole" / PARTIAL).read_bytes()
    rng = random.Random(3)
    for attempt in range(5):
        folder = tmp_path / f"cut-{attempt}"
        task = generate_task(loaded, folder, SAMPLED)
        cut = rng.randrange(len(content))
        (folder / PARTIAL).write_bytes(content[:cut])
        assert generated(loaded, task) == whole
        started = events_of(folder, "stage_started")[0]
        assert (started["done"], started["total"]) == (content[:cut].count(b"\n"), 12)
        assert (folder / PARTIAL).read_bytes() == content


def test_a_stage_asked_to_stop_keeps_its_replies_and_goes_on_from_them(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    whole = generated(loaded_llama, generate_task(loaded_llama, tmp_path / "whole", SAMPLED))
    task = generate_task(loaded_llama, tmp_path / "stopped", SAMPLED)
    looks = iter(range(10_000))
    with pytest.raises(Checkpointed):
        generate.run(make_context(loaded_llama, task, lambda: next(looks) >= 20))
    kept = (tmp_path / "stopped" / PARTIAL).read_bytes()
    assert 0 < kept.count(b"\n") < 12 and kept.endswith(b"\n")
    assert events_of(tmp_path / "stopped", "checkpointed")[0]["done"] == kept.count(b"\n")
    assert not (tmp_path / "stopped" / "traces.arrow").exists()
    assert generated(loaded_llama, task) == whole
    last = events_of(tmp_path / "stopped", "progress")[-1]
    assert (last["done"], last["total"]) == (12, 12)


def test_an_attempt_without_its_lease_writes_nothing_more(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = generate_task(loaded_llama, tmp_path / "stage", SAMPLED)
    looks: list[int] = []

    def take_over_at_the_tenth_token() -> bool:
        looks.append(1)
        if len(looks) == 10:
            take_lease(tmp_path / "stage", "newer job")
        return False

    with pytest.raises(Fenced):
        generate.run(make_context(loaded_llama, task, take_over_at_the_tenth_token))
    lines = (tmp_path / "stage" / PARTIAL).read_bytes().count(b"\n")
    assert lines == 1
    assert not (tmp_path / "stage" / "traces.arrow").exists()


def test_a_students_traces_carry_the_hash_of_the_adapter_that_wrote_them(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    adapter = make_adapter(loaded, tmp_path / "adapter")
    task = generate_task(loaded, tmp_path / "stage", CHOICE, role="student", adapter=str(adapter), gate=None)
    outcome = generate.run(make_context(loaded, task))
    traces = read_traces(tmp_path / "stage" / "traces.arrow")
    digest = sha256_file(adapter / "adapter_model.safetensors")
    assert {(trace.checkpoint, trace.adapter_sha256, trace.accepted) for trace in traces} == {
        ("student", digest, True)
    }
    assert outcome.adapter_sha256 == digest
    bare = replace(task, folder=str(tmp_path / "bare"), adapter=None)
    assert generated(loaded, bare) != (tmp_path / "stage" / "traces.arrow").read_bytes()


def test_replies_of_another_adapter_are_not_taken_up(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = generate_task(loaded_llama, tmp_path / "stage", CHOICE, role="student", gate=None)
    generated(loaded_llama, task)
    adapter = make_adapter(loaded_llama, tmp_path / "adapter")
    with pytest.raises(BadInput, match="holds replies of student with adapter None"):
        generated(loaded_llama, replace(task, adapter=str(adapter)))


def test_a_teacher_that_puts_nothing_into_the_letters_is_warned_of(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    outcome = generate.run(
        make_context(loaded_llama, generate_task(loaded_llama, tmp_path / "stage", CHOICE))
    )
    mass = outcome.figures["letter_mass"]
    assert mass is not None and mass < 0.5
    warned = {event["code"]: event["message"] for event in events_of(tmp_path / "stage", "warning")}
    assert "distil.loss.choice_position" in warned["low_letter_mass"]
    assert "form of the answer and not the choice" in warned["low_letter_mass"]
    assert outcome.warnings == list(warned.values())


def test_a_teacher_whose_traces_are_all_rejected_ends_the_job_with_the_reasons(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    prompts = tmp_path / "prompts.arrow"
    asked = make_presentations(loaded_llama.tokenizer, ["q-1"])
    rule = replace(CHOICE, choice="vocabulary")
    write_prompts(prompts, asked)
    task = generate_task(loaded_llama, tmp_path / "stage", rule, ids=["q-1"], prompts=str(prompts))
    with pytest.raises(BadInput, match="none of the teacher's 4 traces passed the gate: no_answer 4"):
        generate.run(make_context(loaded_llama, task))


def test_a_prompt_that_leaves_no_room_for_the_reply_is_refused_before_any_reply(
    loaded_llama: LoadedModel, tmp_path: Path
) -> None:
    rule = replace(SAMPLED, max_reasoning_tokens=4080)
    task = generate_task(loaded_llama, tmp_path / "stage", rule)
    with pytest.raises(BadInput, match=r"question q-2 \(published\).*do not fit"):
        generate.run(make_context(loaded_llama, task))
    assert not (tmp_path / "stage" / PARTIAL).exists()


def test_a_question_without_a_presentation_is_named(loaded_llama: LoadedModel, tmp_path: Path) -> None:
    task = generate_task(loaded_llama, tmp_path / "stage", CHOICE, ids=["q-1", "q-9"])
    with pytest.raises(BadInput, match=r"no presentation of question q-9 \(published\), 2 are missing"):
        generate.run(make_context(loaded_llama, task))

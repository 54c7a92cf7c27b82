"""Answering every presentation of a stage, to be taken up where an earlier attempt was killed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from torch import nn

from palate_bridge.adapter_effect import WEIGHTS, check_adapter_effect
from palate_bridge.context import StageContext
from palate_bridge.decode import Reply, Writer, reply
from palate_bridge.errors import BadInput, Checkpointed
from palate_bridge.files import sha256_file
from palate_bridge.model import LoadedModel
from palate_bridge.progress import Progress
from palate_bridge.prompts_file import Presentation, both_orders, read_prompts
from palate_bridge.protocol import GenerateTask, ScoreTask
from palate_bridge.records import Checkpoint, Key, Record
from palate_bridge.records_file import PARTIAL, append_record, resume_records
from palate_bridge.sampling import reply_rng
from palate_bridge.tokens import check_parity, choice_tokens, eos_ids


@dataclass(frozen=True)
class Speaker:
    """Who answers: the name kept with each record, the prompt it reads, and its adapter."""

    checkpoint: Checkpoint
    reads: Literal["student", "teacher"]
    adapter: Path | None
    adapter_sha256: str | None

    def prompt(self, presentation: Presentation) -> list[int]:
        return presentation.teacher_ids if self.reads == "teacher" else presentation.student_ids


@dataclass(frozen=True)
class Answered:
    """records: questions as asked x [published, reversed] x sample."""

    presentations: list[Presentation]
    records: list[Record]
    adapter_sha256: str | None


def answer_all(
    context: StageContext,
    checkpoint: Checkpoint,
    reads: Literal["student", "teacher"],
) -> Answered:
    """Every presentation `samples` times. Raises Checkpointed when asked to stop; what is written is kept."""
    task = answering_task(context)
    presentations = both_orders(read_prompts(task.prompts), task.ids)
    speaker = make_speaker(task, checkpoint, reads)
    check_prompts(context.loaded, presentations, speaker, task)
    context.check_lease()
    wanted = [key for key, _ in plan(task, presentations)]
    done = resume_records(context.folder / PARTIAL, wanted)
    check_resumed(done, speaker)
    progress = Progress(context, done=len(done), total=len(wanted))
    if len(done) < len(wanted):
        if speaker.adapter is not None:
            check_adapter_effect(context.loaded, speaker.adapter, presentations[0])
        with context.loaded.with_adapter(speaker.adapter) as module:
            answer_rest(context, module, speaker, presentations, done, progress)
    progress.tell()
    return Answered(presentations, [done[key] for key in wanted], speaker.adapter_sha256)


def answering_task(context: StageContext) -> GenerateTask | ScoreTask:
    assert isinstance(context.task, GenerateTask | ScoreTask)
    return context.task


def make_speaker(
    task: GenerateTask | ScoreTask,
    checkpoint: Checkpoint,
    reads: Literal["student", "teacher"],
) -> Speaker:
    if task.adapter is None:
        return Speaker(checkpoint, reads, None, None)
    file = Path(task.adapter) / WEIGHTS
    if not file.is_file():
        raise BadInput(
            f"{file}: no such file", "The stage that trains this adapter has not ended: run it first."
        )
    return Speaker(checkpoint, reads, file.parent, sha256_file(file))


def check_prompts(
    loaded: LoadedModel, presentations: list[Presentation], speaker: Speaker, task: GenerateTask | ScoreTask
) -> None:
    """Everything that would fail hours later fails here."""
    check_parity(loaded.tokenizer, presentations)
    room = loaded.max_positions - task.decode.max_reasoning_tokens - longest_close(loaded)
    for presentation in presentations:
        length = len(speaker.prompt(presentation))
        if length > room:
            raise BadInput(
                f"question {presentation.question_id} ({presentation.order}): its prompt of {length} tokens"
                f" and a reply of {task.decode.max_reasoning_tokens} do not fit the model's"
                f" {loaded.max_positions} positions",
                "Lower the prompt limit or max_reasoning_tokens; nothing is cut silently.",
            )


def longest_close(loaded: LoadedModel) -> int:
    choice = choice_tokens(loaded.tokenizer)
    return max(map(len, (choice.after_nothing, choice.after_text, choice.after_open_thinking))) + 1


def plan(
    task: GenerateTask | ScoreTask, presentations: list[Presentation]
) -> Iterator[tuple[Key, Presentation]]:
    """The order of work and of the finished file: both orders of a question back to back."""
    for presentation in presentations:
        for sample in range(task.samples):
            yield (presentation.question_id, presentation.order, sample), presentation


def check_resumed(done: dict[Key, Record], speaker: Speaker) -> None:
    for record in done.values():
        if (record.checkpoint, record.adapter_sha256) != (speaker.checkpoint, speaker.adapter_sha256):
            raise BadInput(
                f"{PARTIAL} holds replies of {record.checkpoint} with adapter {record.adapter_sha256}, and"
                f" this job asks for {speaker.checkpoint} with {speaker.adapter_sha256}",
                "Delete the stage folder and run again.",
            )


def answer_rest(
    context: StageContext,
    module: nn.Module,
    speaker: Speaker,
    presentations: list[Presentation],
    done: dict[Key, Record],
    progress: Progress,
) -> None:
    """Adds to `done` and to the partial file, one line a reply."""
    task = answering_task(context)
    loaded = context.loaded
    writer = Writer(
        loaded=loaded,
        module=module,
        decode=task.decode,
        choice=choice_tokens(loaded.tokenizer),
        eos=eos_ids(loaded.base, loaded.tokenizer),
        stop_requested=context.stop_requested,
    )
    with (context.folder / PARTIAL).open("ab") as file:
        for key, presentation in plan(task, presentations):
            if key in done:
                continue
            try:
                written = reply(
                    writer,
                    speaker.prompt(presentation),
                    presentation.opens_thinking,
                    reply_rng(task.seed, *key),
                )
            except Checkpointed:
                progress.saved()
                raise
            done[key] = make_record(key, presentation, speaker, written)
            context.check_lease()
            append_record(file, done[key])
            progress.advance(done[key].prompt_tokens + len(written.completion_ids))


def make_record(key: Key, presentation: Presentation, speaker: Speaker, written: Reply) -> Record:
    question_id, order, sample = key
    assert order == "published" or order == "reversed"
    share_of_a = written.share_of_a
    return Record(
        question_id=question_id,
        order=order,
        sample=sample,
        checkpoint=speaker.checkpoint,
        adapter_sha256=speaker.adapter_sha256,
        text=written.text,
        completion_ids=written.completion_ids,
        finish_reason=written.finish_reason,
        forced_close=written.forced_start is not None,
        forced_start=written.forced_start,
        choice_index=written.choice_index,
        letter_mass=written.letter_mass,
        letter_share=share_of_a if share_of_a is None or presentation.supported == "A" else 1 - share_of_a,
        letter=written.letter,
        prompt_tokens=len(speaker.prompt(presentation)),
        prompt_opens_thinking=presentation.opens_thinking,
    )

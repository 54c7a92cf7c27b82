"""Calibration: the last choice of the student's own replies is trained, one position a trace.

Each trace with a choice gives prompt + reply up to the letter, and the cross-entropy of the supported letter
there. The replies must come from the very adapter that is calibrated. Traces without a choice are counted,
not trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from peft import PeftModel

from palate_bridge.base_guard import BaseGuard
from palate_bridge.context import StageContext, StageOutcome
from palate_bridge.errors import BadInput
from palate_bridge.forms import Form, Reply, choose_form
from palate_bridge.lineage import adapter_sha256, save_adapter
from palate_bridge.lora import check_adapter_folder
from palate_bridge.losses import choice_loss_sum
from palate_bridge.model import LoadedModel
from palate_bridge.modes import student_mode
from palate_bridge.positions import why_unfit
from palate_bridge.prompts_file import Presentation, read_prompts
from palate_bridge.protocol import CalibrateTask
from palate_bridge.records import Trace
from palate_bridge.tokens import ChoiceTokens, assert_choice, choice_tokens
from palate_bridge.traces_file import read_traces
from palate_bridge.train_loop import Work, train
from palate_bridge.training_set import gather, outcome

NO_CHOICE = "no choice in the reply"


@dataclass(frozen=True)
class ChoiceExample:
    label: str
    prompt_ids: list[int]
    completion_ids: list[int]
    choice_index: int
    target: int
    supervised: int = 1


def run(context: StageContext) -> StageOutcome:
    task, loaded = context.task, context.loaded
    assert isinstance(task, CalibrateTask)
    start = Path(task.adapter)
    check_adapter_folder(start)
    prompts, traces = read_prompts(Path(task.prompts)), read_traces(Path(task.traces))
    parent = adapter_sha256(start)
    check_origin(traces, parent, task.traces)
    letters = choice_tokens(loaded.tokenizer)
    found = gather(task, prompts, traces, lambda shown, trace: to_example(loaded, letters, shown, trace))
    guard = BaseGuard(loaded, prompts)
    with loaded.with_adapter(start, trainable=True) as module:
        guard.check(module)
        form = choose_form(context)
        work = make_work(loaded, module, letters, task, form)
        with student_mode(module, form.model_recomputes):
            trained = train(
                context, module, form.micro_steps(found.questions), work, lambda: guard.check(module)
            )
        guard.check(module)
        parameters = {"loss": asdict(task.loss), "optimizer": asdict(task.optimizer), "form": form.name}
        saved = save_adapter(context, module, trained.ids, parameters, parent)
    guard.check(None)
    return outcome(found, trained, saved)


def check_origin(traces: list[Trace], parent: str, path: str) -> None:
    for row, trace in enumerate(traces):
        if trace.adapter_sha256 != parent:
            raise BadInput(
                f"{path}, row {row}: adapter_sha256 is {trace.adapter_sha256}, the adapter to calibrate is"
                f" {parent}.",
                "Generate the traces with the adapter that is calibrated.",
            )


def to_example(
    loaded: LoadedModel, letters: ChoiceTokens, shown: Presentation, trace: Trace
) -> ChoiceExample | str:
    if trace.choice_index is None or trace.letter is None:
        return NO_CHOICE
    reason = why_unfit(loaded.max_positions, len(shown.student_ids), trace.choice_index + 1, 1)
    if reason is not None:
        return reason
    assert_choice(loaded.tokenizer, trace.completion_ids, trace.choice_index, trace.letter)
    return ChoiceExample(
        label=f"{trace.question_id} ({trace.order}, sample {trace.sample})",
        prompt_ids=shown.student_ids,
        completion_ids=trace.completion_ids,
        choice_index=trace.choice_index,
        target=letters.letter_id(shown.supported),
    )


def make_work(
    loaded: LoadedModel, module: PeftModel, letters: ChoiceTokens, task: CalibrateTask, form: Form
) -> Callable[[list[ChoiceExample]], Work]:
    only = (letters.letter_a, letters.letter_b) if task.loss.choice_position == "letters" else None

    def work(examples: list[ChoiceExample]) -> Work:
        replies = [Reply(each.prompt_ids, each.completion_ids, [each.choice_index]) for each in examples]
        found = form.hidden(loaded, module, replies)
        targets = [each.target for each in examples]
        return Work(choice_loss_sum(loaded.lm_head, torch.cat(found.hidden), targets, only), found.tokens)

    return work

"""Distillation, readable from top to bottom.

The teacher is the loaded base with the adapter off, reading the demonstration; the student is the same base
with the adapter on, reading the question alone. Both read the very ids the teacher sampled, and the student's
distribution at each supervised token is drawn to the teacher's (losses.py). Because the base never changes,
the teacher's hidden states at those tokens are computed once and kept in host memory for all epochs. How the
model is run over the sequences of a question is the form's part (forms.py). Absent on purpose: packing across
questions, cutting, a second copy of the weights, logits of whole sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from peft import PeftModel
from torch import Tensor

from palate_bridge.base_guard import BaseGuard
from palate_bridge.context import StageContext, StageOutcome
from palate_bridge.forms import Form, Reply, choose_form
from palate_bridge.fresh_adapter import fresh_adapter
from palate_bridge.lineage import save_adapter
from palate_bridge.losses import KlLoss, kl_sum
from palate_bridge.model import LoadedModel
from palate_bridge.modes import student_mode, teacher_mode
from palate_bridge.positions import supervised_rows, why_unfit
from palate_bridge.prompts_file import Presentation, read_prompts
from palate_bridge.protocol import DistilTask
from palate_bridge.records import Trace
from palate_bridge.tokens import choice_tokens
from palate_bridge.traces_file import read_traces
from palate_bridge.train_loop import Work, train
from palate_bridge.training_set import gather, outcome


@dataclass(frozen=True)
class DistilExample:
    """rows: completion positions with a loss. choice: index into rows of the choice token."""

    label: str
    student_ids: list[int]
    teacher_ids: list[int]
    completion_ids: list[int]
    rows: list[int]
    choice: int | None

    @property
    def supervised(self) -> int:
        return len(self.rows)


def run(context: StageContext) -> StageOutcome:
    task, loaded = context.task, context.loaded
    assert isinstance(task, DistilTask)
    prompts = read_prompts(Path(task.prompts))
    traces = read_traces(Path(task.traces))
    found = gather(task, prompts, traces, lambda shown, trace: to_example(loaded, shown, trace))
    guard = BaseGuard(loaded, prompts)
    with fresh_adapter(loaded, task.lora, task.seed) as module:
        guard.check(module)
        form = choose_form(context)
        work = make_work(loaded, module, task, form)
        with student_mode(module, form.model_recomputes):
            trained = train(
                context, module, form.micro_steps(found.questions), work, lambda: guard.check(module)
            )
        guard.check(module)
        parameters = {
            "lora": asdict(task.lora),
            "loss": asdict(task.loss),
            "optimizer": asdict(task.optimizer),
            "form": form.name,
        }
        saved = save_adapter(context, module, trained.ids, parameters, parent_sha256=None)
    guard.check(None)
    return outcome(found, trained, saved)


def to_example(loaded: LoadedModel, shown: Presentation, trace: Trace) -> DistilExample | str:
    rows = supervised_rows(trace)
    longer = max(shown.student_ids, shown.teacher_ids, key=len)
    if (
        reason := why_unfit(loaded.max_positions, len(longer), len(trace.completion_ids), len(rows))
    ) is not None:
        return reason
    choice = rows.index(trace.choice_index) if trace.choice_index is not None else None
    label = f"{trace.question_id} ({trace.order}, sample {trace.sample})"
    return DistilExample(label, shown.student_ids, shown.teacher_ids, trace.completion_ids, rows, choice)


def make_work(
    loaded: LoadedModel, module: PeftModel, task: DistilTask, form: Form
) -> Callable[[list[DistilExample]], Work]:
    kept: dict[str, Tensor] = {}
    letters = choice_tokens(loaded.tokenizer)
    only = (letters.letter_a, letters.letter_b) if task.loss.choice_position == "letters" else None
    loss = KlLoss(task.loss.direction, task.loss.temperature, task.loss.chunk_positions, only)

    def work(examples: list[DistilExample]) -> Work:
        # Before the student's forward: switching the adapter between a forward and its backward would change
        # what a checkpointed layer recomputes.
        tokens = keep_teacher(loaded, module, form, examples, kept)
        replies = [Reply(each.student_ids, each.completion_ids, each.rows) for each in examples]
        student = form.hidden(loaded, module, replies)
        sums = [
            kl_sum(loaded.lm_head, student_TH, kept[each.label].to(loaded.device), each.choice, loss)
            for each, student_TH in zip(examples, student.hidden, strict=True)
        ]
        return Work(torch.stack(sums).sum(), tokens + student.tokens)

    return work


def keep_teacher(
    loaded: LoadedModel,
    module: PeftModel,
    form: Form,
    examples: list[DistilExample],
    kept: dict[str, Tensor],
) -> int:
    """Puts what `kept` lacks there, [rows, H] in host memory: 10 KB a token at 27B, against 0.5 MB of logits.
    Gives the number of tokens this took.
    """
    missing = [each for each in examples if each.label not in kept]
    if not missing:
        return 0
    replies = [Reply(each.teacher_ids, each.completion_ids, each.rows) for each in missing]
    with teacher_mode(module):
        found = form.hidden(loaded, module, replies)
    for each, hidden in zip(missing, found.hidden, strict=True):
        kept[each.label] = hidden.cpu()
    return found.tokens

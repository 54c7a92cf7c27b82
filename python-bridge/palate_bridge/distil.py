"""Distillation, the reference form: one sequence at a time, readable from top to bottom.

The teacher is the loaded base with the adapter off, reading the demonstration; the student is the same base
with the adapter on, reading the question alone. Both read the very ids the teacher sampled, and the student's
distribution at each supervised token is drawn to the teacher's (losses.py). Because the base never changes,
the teacher's hidden states at those tokens are computed once and kept in host memory for all epochs. Absent
on purpose: padding, packing, cutting, a second copy of the weights, logits of whole sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from peft import PeftModel
from torch import Tensor

from palate_bridge.base_guard import BaseGuard
from palate_bridge.context import StageContext, StageOutcome
from palate_bridge.fresh_adapter import fresh_adapter
from palate_bridge.lineage import save_adapter
from palate_bridge.losses import KlLoss, kl_sum
from palate_bridge.model import LoadedModel
from palate_bridge.modes import student_mode, teacher_mode
from palate_bridge.positions import hidden_at, supervised_rows, why_unfit
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
        work = make_work(loaded, module, task)
        with student_mode(module, context.execution.gradient_checkpointing):
            trained = train(context, module, found.questions, work, lambda: guard.check(module))
        guard.check(module)
        parameters = {
            "lora": asdict(task.lora),
            "loss": asdict(task.loss),
            "optimizer": asdict(task.optimizer),
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


def make_work(loaded: LoadedModel, module: PeftModel, task: DistilTask) -> Callable[[DistilExample], Work]:
    kept: dict[str, Tensor] = {}
    letters = choice_tokens(loaded.tokenizer)
    only = (letters.letter_a, letters.letter_b) if task.loss.choice_position == "letters" else None
    loss = KlLoss(task.loss.direction, task.loss.temperature, task.loss.chunk_positions, only)

    def work(example: DistilExample) -> Work:
        tokens = len(example.student_ids) + len(example.completion_ids)
        # Before the student's forward: switching the adapter between a forward and its backward would change
        # what a checkpointed layer recomputes.
        if example.label not in kept:
            kept[example.label] = teacher_hidden(loaded, module, example)
            tokens += len(example.teacher_ids) + len(example.completion_ids)
        teacher_TH = kept[example.label].to(loaded.device)
        student_TH = hidden_at(loaded, module, example.student_ids, example.completion_ids, example.rows)
        return Work(kl_sum(loaded.lm_head, student_TH, teacher_TH, example.choice, loss), tokens)

    return work


def teacher_hidden(loaded: LoadedModel, module: PeftModel, example: DistilExample) -> Tensor:
    """[rows, H] in host memory: 10 KB a token at 27B, against 0.5 MB of logits."""
    with teacher_mode(module):
        return hidden_at(loaded, module, example.teacher_ids, example.completion_ids, example.rows).cpu()

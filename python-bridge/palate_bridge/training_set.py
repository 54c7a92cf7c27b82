"""From traces on disk to the examples of each question, with a count of all that is left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from palate_bridge.context import StageOutcome
from palate_bridge.errors import BadInput
from palate_bridge.lineage import SavedAdapter
from palate_bridge.prompts_file import Presentation, Presentations
from palate_bridge.protocol import TaskBase
from palate_bridge.records import Trace
from palate_bridge.train_loop import Trained

E = TypeVar("E")


@dataclass(frozen=True)
class TrainingSet(Generic[E]):
    questions: dict[str, list[E]]
    counts: dict[str, int]
    warnings: list[str]


def gather(
    task: TaskBase,
    prompts: Presentations,
    traces: list[Trace],
    build: Callable[[Presentation, Trace], E | str],
) -> TrainingSet[E]:
    """`build` gives an example, or says in words why there is none. Raises BadInput when nothing is left."""
    wanted = set(task.ids)
    mine = [trace for trace in traces if trace.question_id in wanted]
    accepted = [trace for trace in mine if trace.accepted]
    questions: dict[str, list[E]] = {}
    reasons: Counter[str] = Counter()
    for trace in accepted:
        built = build(shown_to(prompts, trace), trace)
        if isinstance(built, str):
            reasons[built] += 1
        else:
            questions.setdefault(trace.question_id, []).append(built)
    warnings = describe(len(task.ids), len(questions), len(accepted), reasons)
    if not questions:
        raise BadInput(
            f"nothing to train on: {len(task.ids)} questions have {len(mine)} traces, {len(accepted)} of them"
            f" accepted; {'; '.join(warnings)}",
            "Look at reject_reason in the traces; more samples or another demonstration may help.",
        )
    counts = {
        "questions": len(task.ids),
        "questions_trained": len(questions),
        "traces": len(mine),
        "traces_accepted": len(accepted),
        "traces_trained": sum(len(examples) for examples in questions.values()),
    }
    return TrainingSet(questions, counts, warnings)


def shown_to(prompts: Presentations, trace: Trace) -> Presentation:
    found = prompts.get((trace.question_id, trace.order))
    if found is None:
        raise BadInput(f"a trace answers question {trace.question_id} ({trace.order}), which has no prompt.")
    return found


def describe(questions: int, trained: int, accepted: int, reasons: Counter[str]) -> list[str]:
    lines = [f"{count} of {accepted} left out: {reason}" for reason, count in sorted(reasons.items())]
    if trained < questions:
        lines.append(f"{questions - trained} of {questions} questions left out: no trace to train on")
    return lines


def outcome(found: TrainingSet[E], trained: Trained, saved: SavedAdapter) -> StageOutcome:
    position = trained.position
    return StageOutcome(
        files=saved.files,
        adapter_sha256=saved.sha256,
        counts=found.counts | {"steps": position.step, "supervised_tokens": position.supervised_tokens},
        figures={"first_loss": position.first_loss, "last_loss": position.last_loss},
        warnings=found.warnings,
    )

"""Stage `generate`: the teacher's traces, written with the demonstration in view, or the student's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

from palate_bridge.context import StageContext, StageOutcome
from palate_bridge.errors import BadInput
from palate_bridge.gate import REASONS, gate
from palate_bridge.prompts_file import Presentation
from palate_bridge.protocol import Gate, GenerateTask
from palate_bridge.records import Record, Trace
from palate_bridge.replies import answer_all
from palate_bridge.traces_file import TRACES, write_traces

LEAST_LETTER_MASS = 0.5
LEAST_LETTER_SHARE = 0.6
ADVICE = (
    "Full-vocabulary KL would teach the form of the answer and not the choice:"
    " set distil.loss.choice_position to letters."
)


def run(context: StageContext) -> StageOutcome:
    """Leaves traces.arrow: all traces, also the rejected ones. Without a gate all are accepted."""
    task = context.task
    assert isinstance(task, GenerateTask)
    if task.role == "teacher" and task.adapter is not None:
        raise BadInput("the teacher is the base model: stage generate has role teacher and an adapter")
    answered = answer_all(context, task.role, task.role)
    traces = judge(answered.records, answered.presentations, task.gate)
    rejected = Counter(trace.reject_reason for trace in traces if not trace.accepted)
    if task.role == "teacher":
        check_any_accepted(traces, rejected)
    figures = {
        name: mean(getattr(trace, name) for trace in traces) for name in ("letter_mass", "letter_share")
    }
    warnings = warn(context, figures) if task.role == "teacher" else []
    context.check_lease()
    write_traces(context.folder / TRACES, traces)
    return StageOutcome(
        files=[TRACES],
        adapter_sha256=answered.adapter_sha256,
        counts={
            "presentations": len(answered.presentations),
            "traces": len(traces),
            "accepted": sum(trace.accepted for trace in traces),
            **{f"rejected_{reason}": rejected[reason] for reason in REASONS},
            "completion_tokens": sum(len(trace.completion_ids) for trace in traces),
            "prompt_tokens": sum(trace.prompt_tokens for trace in traces),
        },
        figures=figures,
        warnings=warnings,
    )


def judge(records: list[Record], presentations: list[Presentation], rule: Gate | None) -> list[Trace]:
    asked = {(presentation.question_id, presentation.order): presentation for presentation in presentations}
    traces: list[Trace] = []
    for record in records:
        presentation = asked[record.question_id, record.order]
        reason = gate(record, presentation, rule.max_copied_tokens) if rule else None
        traces.append(Trace(**asdict(record), accepted=reason is None, reject_reason=reason))
    return traces


def check_any_accepted(traces: list[Trace], rejected: Counter[str | None]) -> None:
    if any(trace.accepted for trace in traces):
        return
    told = ", ".join(f"{reason} {rejected[reason]}" for reason in REASONS if rejected[reason])
    raise BadInput(
        f"none of the teacher's {len(traces)} traces passed the gate: {told}",
        "Read the replies in records.partial.jsonl of the stage folder: raise max_reasoning_tokens, or use"
        " another demonstration or model.",
    )


def warn(context: StageContext, figures: dict[str, float | None]) -> list[str]:
    """A teacher that does not put its choice into the letters has no choice to teach."""
    mass, share = figures["letter_mass"], figures["letter_share"]
    found: list[tuple[str, str]] = []
    if mass is not None and mass < LEAST_LETTER_MASS:
        told = (
            f"At the choice the two letters have {mass:.3f} of the teacher's probability on average. {ADVICE}"
        )
        found.append(("low_letter_mass", told))
    if share is not None and share < LEAST_LETTER_SHARE:
        told = f"Of the two letters the supported one has {share:.3f} on average with the teacher. {ADVICE}"
        found.append(("low_letter_share", told))
    for code, message in found:
        context.events.emit("warning", key=context.task.key, code=code, message=message)
    return [message for _, message in found]


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

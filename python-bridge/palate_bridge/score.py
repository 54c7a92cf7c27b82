"""Stage `score`: a checkpoint's replies to held-out questions, in both orders; Node judges them."""

from __future__ import annotations

from palate_bridge.context import StageContext, StageOutcome
from palate_bridge.protocol import ScoreTask
from palate_bridge.records_file import RECORDS, write_records
from palate_bridge.replies import answer_all


def run(context: StageContext) -> StageOutcome:
    """Leaves records.jsonl. With an adapter, only after it was shown to change the model."""
    task = context.task
    assert isinstance(task, ScoreTask)
    answered = answer_all(context, task.checkpoint, "student")
    context.check_lease()
    write_records(context.folder / RECORDS, answered.records)
    return StageOutcome(
        files=[RECORDS],
        adapter_sha256=answered.adapter_sha256,
        counts={
            "presentations": len(answered.presentations),
            "completion_tokens": sum(len(record.completion_ids) for record in answered.records),
            "no_answer": sum(record.letter is None for record in answered.records),
        },
    )

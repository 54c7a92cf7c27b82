"""Presentations as Node would render and encode them, for tests of replies."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from transformers import PreTrainedTokenizerBase

from palate_bridge.prompts_file import ORDERS, Presentation
from palate_bridge.tokens import encode

OPTIONS = ("Read the log of the failing test.", "Change the code and run the tests again.")
DEMONSTRATION = "The better option reads what the program wrote, and then it acts."


def make_presentation(
    tokenizer: PreTrainedTokenizerBase,
    question_id: str,
    order: str,
    task: str = "The test fails in the parser.",
    opens_thinking: bool = False,
) -> Presentation:
    first, second = OPTIONS if order == "published" else OPTIONS[::-1]
    asked = f"{question_id}: {task}\n\nOption A:\n{first}\n\nOption B:\n{second}"
    header = "<|im_end|>\n<|im_start|>assistant\n" + ("<think>\n" if opens_thinking else "")
    student_text = f"<|im_start|>user\n{asked}{header}"
    teacher_text = f"<|im_start|>user\n{DEMONSTRATION}\n\n{asked}{header}"
    return Presentation(
        question_id=question_id,
        order=order,
        supported="A" if order == "published" else "B",
        student_ids=encode(tokenizer, student_text),
        teacher_ids=encode(tokenizer, teacher_text),
        demonstration_ids=encode(tokenizer, DEMONSTRATION),
        student_text=student_text,
        teacher_text=teacher_text,
        opens_thinking=opens_thinking,
    )


def make_presentations(
    tokenizer: PreTrainedTokenizerBase, ids: list[str], opens_thinking: bool = False
) -> list[Presentation]:
    return [
        make_presentation(tokenizer, id, order, opens_thinking=opens_thinking)
        for id in ids
        for order in ORDERS
    ]


def write_prompts(path: Path, presentations: list[Presentation]) -> Path:
    """An Arrow stream with nullable list items, as Node writes it."""
    table = pa.Table.from_pylist([vars(presentation) for presentation in presentations])
    ids = pa.list_(pa.field("item", pa.int32()))
    for name in ("student_ids", "teacher_ids", "demonstration_ids"):
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(ids))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return path

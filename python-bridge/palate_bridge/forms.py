"""The two ways to run the model over what is trained on.

shared      all sequences of a question in one pass, each token that they share once (branch_forward.py)
reference   one whole sequence at a time, as transformers runs it; what the other is tested against
Their results differ by rounding alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeVar

from torch import nn

from palate_bridge.branch_forward import Branches, BranchOptions, hidden_of_branches, why_not_shared
from palate_bridge.context import StageContext
from palate_bridge.model import LoadedModel
from palate_bridge.offload import offloaded
from palate_bridge.positions import foretelling, hidden_at

E = TypeVar("E")


@dataclass(frozen=True)
class Reply:
    """rows: the completion positions whose foretelling hidden states are asked for, rising, at least one."""

    prompt: list[int]
    completion: list[int]
    rows: list[int]

    @property
    def ids(self) -> list[int]:
        """Up to the last token that something asked for depends on."""
        return self.prompt + self.completion[: self.rows[-1]]


@dataclass(frozen=True)
class Form:
    shared: bool
    options: BranchOptions

    @property
    def name(self) -> str:
        return "shared" if self.shared else "reference"

    @property
    def model_recomputes(self) -> bool:
        """Is recomputation transformers' own? The shared form does it itself."""
        return self.options.recompute and not self.shared

    def micro_steps(self, questions: dict[str, list[E]]) -> dict[str, list[list[E]]]:
        """What goes through the model at once: a question, or a sequence."""
        if self.shared:
            return {id: [examples] for id, examples in questions.items()}
        return {id: [[example] for example in examples] for id, examples in questions.items()}

    def hidden(self, loaded: LoadedModel, module: nn.Module, replies: Sequence[Reply]) -> Branches:
        """[len(rows), H] a reply: what foretells completion[row]."""
        if self.shared:
            rows = [foretelling(len(reply.prompt), reply.rows) for reply in replies]
            return hidden_of_branches(loaded, module, [reply.ids for reply in replies], rows, self.options)
        with offloaded(loaded.device) if self.options.offload else nullcontext():
            hidden = [
                hidden_at(loaded, module, reply.prompt, reply.completion, reply.rows) for reply in replies
            ]
        return Branches(hidden, sum(len(reply.ids) for reply in replies))


def choose_form(context: StageContext) -> Form:
    """What execution asks for; the reference form, with a warning, for an architecture the other lacks."""
    execution = context.execution
    options = BranchOptions(execution.gradient_checkpointing, execution.offload_activations)
    if execution.form == "reference":
        return Form(False, options)
    reason = why_not_shared(context.loaded.base.model)
    if reason is None:
        return Form(True, options)
    context.events.emit(
        "warning",
        key=context.task.key,
        code="reference_form",
        message=f"Training runs one sequence at a time: the shared form cannot run this model ({reason}).",
    )
    return Form(False, options)

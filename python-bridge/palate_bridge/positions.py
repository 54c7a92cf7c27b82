"""Which tokens of a reply are trained on, and the hidden states that speak of them, one sequence at a time.

The hidden state at index i of a sequence gives the distribution of token i + 1: completion token r of a
prompt of P tokens is foretold by the hidden state at P - 1 + r, whatever P is on the other side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

if TYPE_CHECKING:
    from palate_bridge.model import LoadedModel
    from palate_bridge.records import Trace

NO_TOKEN = "no token to train on"
TOO_LONG = "longer than the model's window"


def supervised_rows(trace: Trace) -> list[int]:
    """All completion positions that were sampled, end mark included, and the choice; not what was forced."""
    rows = range(len(trace.completion_ids))
    if not trace.forced_close or trace.forced_start is None:
        return list(rows)
    end = trace.choice_index if trace.choice_index is not None else len(trace.completion_ids)
    return [row for row in rows if not trace.forced_start <= row < end]


def hidden_at(
    loaded: LoadedModel, module: nn.Module, prompt: list[int], completion: list[int], rows: list[int]
) -> Tensor:
    """[len(rows), H]: what foretells completion[row]. One whole sequence, no padding, nothing cut."""
    ids = prompt + completion[: rows[-1]]
    hidden_TH = loaded.hidden_states(module, ids)
    return hidden_TH[foretelling(len(prompt), rows)]


def foretelling(prompt: int, rows: list[int]) -> list[int]:
    """Where in the sequence each completion token is foretold; `prompt` is the number of prompt tokens."""
    return [prompt - 1 + row for row in rows]


def why_unfit(window: int, prompt: int, completion: int, supervised: int) -> str | None:
    """Why a sequence of these lengths is not trained on; None = it is. Nothing is ever cut to fit."""
    if supervised == 0 or prompt >= window:
        return NO_TOKEN
    return TOO_LONG if prompt + completion > window else None

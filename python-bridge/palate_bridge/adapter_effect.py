"""An adapter must do something before its replies count as its own.

Adapters that load without an error and change nothing are the commonest silent fault of this model family:
key prefixes of another model class, layers a loader drops.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open

from palate_bridge.errors import BadInput
from palate_bridge.model import LoadedModel
from palate_bridge.prompts_file import Presentation

WEIGHTS = "adapter_model.safetensors"


def check_adapter_effect(loaded: LoadedModel, folder: Path, probe: Presentation) -> None:
    """Raises BadInput when the adapter is zero everywhere, or leaves all hidden states of the probe alone."""
    if is_zero(folder / WEIGHTS):
        raise BadInput(
            f"{folder}: the adapter's delta is zero in every layer: it was saved as it began, untrained",
            "Train it again, with at least one step.",
        )
    with torch.no_grad():
        plain = loaded.hidden_states(loaded.base, probe.student_ids)
        with loaded.with_adapter(folder) as module:
            adapted = loaded.hidden_states(module, probe.student_ids)
    if torch.equal(plain, adapted):
        raise BadInput(
            f"{folder}: the adapter is loaded, and the model sees {probe.question_id} as without it",
            "Its tensors do not reach this model: check that it was trained on this base model.",
        )


def is_zero(file: Path) -> bool:
    """B @ A is zero in every layer, seen from a factor that is all zero."""
    if not file.is_file():
        raise BadInput(f"{file}: no such file", "The training stage did not end: run it again.")
    with safe_open(file, framework="pt") as tensors:
        names = [name for name in tensors.keys() if ".lora_B." in name]  # noqa: SIM118 (it is no mapping)
        return not any(
            tensors.get_tensor(name).any() and tensors.get_tensor(name.replace(".lora_B.", ".lora_A.")).any()
            for name in names
        )

"""Which layers an adapter trains, and the proof that it reaches all of them.

No bias, no modules_to_save, no dropout, never merged: with the adapter off, the model is the base bit for
bit. Adapter weights are float32 whatever the base is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torch import nn

from palate_bridge.errors import BadInput

if TYPE_CHECKING:
    from palate_bridge.protocol import Lora

LLAMA_LIKE = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
# in_proj_a and in_proj_b (48 outputs each in the 27B model) are left out: servers drop them without a word.
GATED_DELTA = ("in_proj_qkv", "in_proj_z", "out_proj")

TARGETS = {
    "llama": LLAMA_LIKE,
    "mistral": LLAMA_LIKE,
    "qwen2": LLAMA_LIKE,
    "qwen3": LLAMA_LIKE,
    "qwen3_5_text": LLAMA_LIKE + GATED_DELTA,
}

PLACE = re.compile(r"^model\.layers\.(\d+)\.(self_attn|linear_attn|mlp)\.")


@dataclass(frozen=True)
class Coverage:
    layers: int
    modules: list[str]


def choose_targets(model_type: str, lora: Lora) -> list[str]:
    if lora.targets != "auto":
        return list(lora.targets)
    if model_type not in TARGETS:
        raise BadInput(
            f"lora.targets is auto, but {model_type} is not one of {', '.join(TARGETS)}.",
            "Name the modules in the recipe.",
        )
    return list(TARGETS[model_type])


def coverage(base: nn.Module, targets: list[str]) -> Coverage:
    """Every decoder layer has a target in its mixer and in its MLP, and no target lies anywhere else."""
    matched = [name for name, module in base.named_modules() if is_target(name, module, targets)]
    for target in targets:
        if not any(name.rpartition(".")[2] == target for name in matched):
            raise BadInput(f"lora.targets: the model has no linear module {target}.")
    places: set[tuple[int, str]] = set()
    for name in matched:
        place = PLACE.match(name)
        if place is None:
            raise BadInput(f"lora.targets: {name} is outside the decoder layers; train only those.")
        places.add((int(place[1]), "mlp" if place[2] == "mlp" else "mixer"))
    layers: int = base.config.num_hidden_layers  # type: ignore[union-attr, assignment]
    missing = [
        (layer, part) for layer in range(layers) for part in ("mixer", "mlp") if (layer, part) not in places
    ]
    if missing:
        layer, part = missing[0]
        raise BadInput(
            f"lora.targets leaves {len(missing)} places untrained, first the {part} of layer {layer}.",
            "Use targets: auto, or name a module of each kind of layer.",
        )
    return Coverage(layers, matched)


def is_target(name: str, module: nn.Module, targets: list[str]) -> bool:
    return name.rpartition(".")[2] in targets and isinstance(module, nn.Linear)


def trainable(module: nn.Module) -> list[tuple[str, nn.Parameter]]:
    """The adapter's own weights by name; the only ones with a gradient."""
    found = [(name, weight) for name, weight in module.named_parameters() if ".lora_" in name]
    return sorted(found, key=lambda pair: pair[0])


def check_adapter_folder(folder: Path) -> None:
    """Only plain LoRA is loaded: anything else would change the base that the teacher is."""
    try:
        config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as cause:
        raise BadInput(f"{folder} is no adapter: {cause}", "Train it first.") from cause
    plain = {"peft_type": "LORA", "bias": "none", "modules_to_save": None, "trainable_token_indices": None}
    for name, wanted in plain.items():
        if config.get(name) != wanted:
            raise BadInput(
                f"{folder}/adapter_config.json: {name} is {config.get(name)!r}, must be {wanted!r}."
            )
    if config.get("lora_dropout"):
        raise BadInput(f"{folder}/adapter_config.json: lora_dropout is not 0.")

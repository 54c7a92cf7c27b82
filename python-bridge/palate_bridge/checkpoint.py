"""Where training stands, on disk: checkpoint-<step>/ appears whole, by rename, and the last two are kept.

Everything else that training depends on (data order, learning rate) is a function of the step, so adapter,
optimizer moments, torch's RNG and a few figures are the whole state: a resumed run equals a straight one bit
for bit on a CPU.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from palate_bridge.files import sha256_file, sync_folder, sync_tree, temporary_name, write_json
from palate_bridge.lora import trainable
from palate_bridge.strict import read

KEEP = 2
MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass(frozen=True)
class Position:
    """step: optimizer steps done. Losses are means per supervised token of the first and the latest step."""

    step: int
    first_loss: float | None
    last_loss: float | None
    supervised_tokens: int


START = Position(0, None, None, 0)


def save_checkpoint(
    folder: Path, module: nn.Module, optimizer: torch.optim.AdamW, position: Position
) -> None:
    target = folder / f"checkpoint-{position.step}"
    temporary = temporary_name(target)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    save_file(weights(module), temporary / "adapter.safetensors")
    save_file(moments(module, optimizer), temporary / "optimizer.safetensors")
    hashes = {path.name: sha256_file(path) for path in sorted(temporary.iterdir())}
    write_json(temporary / "state.json", {"position": asdict(position), "files": hashes})
    sync_tree(temporary)
    shutil.rmtree(target, ignore_errors=True)
    temporary.rename(target)
    sync_folder(folder)
    for old in saved_steps(folder)[:-KEEP]:
        shutil.rmtree(folder / f"checkpoint-{old}", ignore_errors=True)


def resume(folder: Path, module: nn.Module, optimizer: torch.optim.AdamW) -> Position:
    """Bring module and optimizer to the newest whole checkpoint; START where there is none."""
    for step in reversed(saved_steps(folder)):
        source = folder / f"checkpoint-{step}"
        position = read_state(source)
        if position is not None:
            restore(source, module, optimizer)
            return position
    return START


def saved_steps(folder: Path) -> list[int]:
    names = [path.name.removeprefix("checkpoint-") for path in folder.glob("checkpoint-*")]
    return sorted(int(name) for name in names if name.isdecimal())


def read_state(source: Path) -> Position | None:
    """None where a file is missing or not the one that was written."""
    try:
        state = json.loads((source / "state.json").read_text(encoding="utf-8"))
        whole = all(sha256_file(source / name) == sha256 for name, sha256 in state["files"].items())
    except (OSError, ValueError, KeyError):
        return None
    return read(Position, state["position"], str(source / "state.json")) if whole else None


def restore(source: Path, module: nn.Module, optimizer: torch.optim.AdamW) -> None:
    adapter = load_file(source / "adapter.safetensors")
    kept = load_file(source / "optimizer.safetensors")
    for name, weight in trainable(module):
        weight.data.copy_(adapter[name])
        optimizer.state[weight] = {
            moment: kept[f"{name}.{moment}"].to(weight.device if moment != "step" else "cpu")
            for moment in MOMENTS
        }
    torch.set_rng_state(kept["torch_rng"])


def weights(module: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach().cpu().contiguous() for name, weight in trainable(module)}


def moments(module: nn.Module, optimizer: torch.optim.AdamW) -> dict[str, Tensor]:
    found = {"torch_rng": torch.get_rng_state()}
    for name, weight in trainable(module):
        for moment in MOMENTS:
            found[f"{name}.{moment}"] = optimizer.state[weight][moment].detach().cpu().contiguous()
    return found

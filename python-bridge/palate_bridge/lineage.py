"""The adapter folder that a training stage leaves, with lineage.json: what it came from, all of it by hash.

lineage.json names question ids; which task each belongs to is the control plane's to know, by data_digest.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from peft import PeftModel, get_peft_model_state_dict
from safetensors.torch import save_file

from palate_bridge.context import StageContext
from palate_bridge.files import sha256_file, sync_folder, sync_tree, temporary_name, write_json
from palate_bridge.protocol import TaskBase
from palate_bridge.versions import versions

ADAPTER = "adapter"
WEIGHTS = "adapter_model.safetensors"


@dataclass(frozen=True)
class SavedAdapter:
    """files: names inside the stage folder. sha256: of the weights file."""

    files: list[str]
    sha256: str


def save_adapter(
    context: StageContext,
    module: PeftModel,
    ids: list[str],
    parameters: dict[str, Any],
    parent_sha256: str | None,
) -> SavedAdapter:
    """A PEFT folder, the same bytes for the same training. It appears whole, by rename."""
    target = context.folder / ADAPTER
    temporary = temporary_name(target)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    tensors = {name: tensor.cpu().contiguous() for name, tensor in get_peft_model_state_dict(module).items()}
    save_file(tensors, temporary / WEIGHTS, metadata={"format": "pt"})
    write_json(temporary / "adapter_config.json", peft_config(module, context.task))
    sha256 = sha256_file(temporary / WEIGHTS)
    hashes = {path.name: sha256_file(path) for path in sorted(temporary.iterdir())}
    write_json(temporary / "lineage.json", lineage(context.task, ids, parameters, parent_sha256, hashes))
    sync_tree(temporary)
    context.check_lease()
    shutil.rmtree(target, ignore_errors=True)
    temporary.rename(target)
    sync_folder(context.folder)
    return SavedAdapter([f"{ADAPTER}/{path.name}" for path in sorted(target.iterdir())], sha256)


def peft_config(module: PeftModel, task: TaskBase) -> dict[str, Any]:
    """As PEFT writes it, but with sets in a fixed order and the model's source in place of a path on this
    host.
    """
    config = module.peft_config["default"].to_dict()
    plain = json.loads(json.dumps(config, default=as_json))
    plain["base_model_name_or_path"] = task.lineage.base.source
    plain["revision"] = task.lineage.base.revision
    plain["inference_mode"] = True
    return dict(sorted(plain.items()))


def as_json(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else str(value)


def lineage(
    task: Any, ids: list[str], parameters: dict[str, Any], parent_sha256: str | None, hashes: dict[str, str]
) -> dict[str, Any]:
    return {
        "stage": task.stage,
        "key": task.key,
        **asdict(task.lineage),
        "question_ids": ids,
        "parent_adapter_sha256": parent_sha256,
        "seed": task.seed,
        "parameters": parameters,
        "versions": versions(),
        "files": hashes,
    }


def adapter_sha256(folder: Path) -> str:
    return sha256_file(folder / WEIGHTS)

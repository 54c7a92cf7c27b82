"""The base model of a job: loaded once, frozen, and never changed by the adapters that come and go."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel, get_peft_model_state_dict
from safetensors import safe_open
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from palate_bridge.errors import BadInput
from palate_bridge.lora import check_adapter_folder

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Forward:
    """hidden: [B, T, H] after the last norm, lm_head not applied. cache: where the next call goes on."""

    hidden: Tensor
    cache: Any | None


@dataclass(frozen=True)
class LoadedModel:
    base: Any
    tokenizer: PreTrainedTokenizerBase
    device: torch.device
    dtype: torch.dtype
    digest: str

    @contextmanager
    def with_adapter(self, folder: Path | None, *, trainable: bool = False) -> Iterator[Any]:
        """The base alone, or with a folder's adapter beside its weights: never merged, always taken out."""
        if folder is None:
            yield self.base
            return
        module = attach_adapter(self, folder, trainable=trainable)
        try:
            yield module
        finally:
            detach_adapter(self, module)

    def lm_head(self, hidden: Tensor, columns: Sequence[int] | None = None) -> Tensor:
        """hidden [..., H] -> float32 logits [..., V]; those of named ids are multiplied in float32 too."""
        if columns is None:
            return self.base.lm_head(hidden.to(self.dtype)).float()
        return hidden.float() @ self.base.lm_head.weight[list(columns)].float().T

    def hidden_states(self, module: nn.Module, ids: list[int]) -> Tensor:
        """Final hidden states [T, H] of one whole unpadded sequence; gradients follow the caller's mode."""
        return forward(module, torch.tensor([ids], device=self.device)).hidden[0]

    @property
    def max_positions(self) -> int:
        return self.base.config.max_position_embeddings


def load_model(path: Path | str, digest: str, dtype: str, device: str) -> LoadedModel:
    folder = Path(path)
    check_digest(folder, digest)
    where = pick_device(device)
    base: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=DTYPES[dtype], local_files_only=True)
    base = without_dropout(base).to(where).eval().requires_grad_(False)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return LoadedModel(base, tokenizer, where, DTYPES[dtype], digest)


def without_dropout(base: Any) -> Any:
    """Recomputation in the backward pass needs train mode; dropout would make it differ from the teacher."""
    for module in base.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            setattr(module, "attention_dropout", 0.0)  # noqa: B010 (nn.Module types attributes as modules)
    return base


def forward(
    module: nn.Module, input_ids_BT: Tensor, cache: Any | None = None, *, use_cache: bool = False, **more: Any
) -> Forward:
    """The decoder without lm_head. The one place that knows how this transformers version names the cache."""
    output = decoder(module)(input_ids=input_ids_BT, cache=cache, use_cache=use_cache, **more)
    return Forward(output.last_hidden_state, output.cache)


def decoder(module: nn.Module) -> nn.Module:
    """The stack of layers inside a causal model, with or without PEFT around it."""
    causal: Any = module.get_base_model() if isinstance(module, PeftModel) else module
    return causal.model


def attach_adapter(loaded: LoadedModel, folder: Path, *, trainable: bool) -> PeftModel:
    check_adapter_folder(folder)
    try:
        module = PeftModel.from_pretrained(loaded.base, str(folder), is_trainable=trainable)
    except (OSError, ValueError, RuntimeError) as cause:
        detach_leftovers(loaded)
        raise BadInput(
            f"{folder} is no adapter for this base model: {cause}", "Train it again on this model."
        ) from cause
    loaded_keys = set(get_peft_model_state_dict(module))
    with safe_open(folder / "adapter_model.safetensors", framework="pt") as tensors:
        file_keys = set(tensors.keys())
    if loaded_keys != file_keys:
        odd = sorted(loaded_keys ^ file_keys)[0]
        detach_adapter(loaded, module)
        raise BadInput(f"{folder}: tensor {odd} has no counterpart; the adapter would not take effect.")
    return module.eval()


def detach_adapter(loaded: LoadedModel, module: PeftModel) -> None:
    """Put the plain layers back; their weights were never written to."""
    module.unload()
    loaded.base.requires_grad_(False).eval()
    if hasattr(loaded.base, "peft_config"):
        del loaded.base.peft_config


def detach_leftovers(loaded: LoadedModel) -> None:
    """A failed load may leave injected layers; replace each by the base layer it holds."""
    for name, layer in list(loaded.base.named_modules()):
        if hasattr(layer, "lora_A") and hasattr(layer, "base_layer"):
            parent, _, leaf = name.rpartition(".")
            setattr(loaded.base.get_submodule(parent), leaf, layer.base_layer)
    loaded.base.requires_grad_(False).eval()


def pick_device(device: str) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cuda" and not torch.cuda.is_available():
        raise BadInput("device is cuda, but torch sees no CUDA device.", "Set device to auto or cpu.")
    return torch.device(device)


def check_digest(folder: Path, digest: str) -> None:
    """A folder that Palate converted says what it holds; a job made for other weights stops here."""
    marker = folder / "digest.json"
    if not folder.is_dir():
        raise BadInput(f"no model folder at {folder}", "Resolve the model again.")
    if marker.exists() and json.loads(marker.read_text(encoding="utf-8"))["digest"] != digest:
        raise BadInput(
            f"{folder} holds other weights than the job names ({digest}).", "Resolve the model again."
        )

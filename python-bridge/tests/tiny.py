"""Small real things that tests share: models of real architectures, adapters that change something, jobs."""

from __future__ import annotations

from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model

from palate_bridge.model import LoadedModel
from palate_bridge.tiny_models import save_tiny

LLAMA_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
QWEN_TARGETS = [*LLAMA_TARGETS, "in_proj_qkv", "in_proj_z", "out_proj"]


def make_model(kind: str, folder: Path) -> Path:
    """A model folder of `llama` or `qwen3_5` with random weights."""
    folder.mkdir(parents=True, exist_ok=True)
    save_tiny(kind, folder)
    return folder


def make_adapter(loaded: LoadedModel, folder: Path, seed: int = 1, scale: float = 0.5) -> Path:
    """A PEFT adapter folder whose B is not zero, so that it moves the logits."""
    kind = loaded.base.config.model_type
    targets = QWEN_TARGETS if kind.startswith("qwen3_5") else LLAMA_TARGETS
    module = get_peft_model(loaded.base, LoraConfig(r=4, lora_alpha=8, target_modules=targets))
    random = torch.Generator().manual_seed(seed)
    for name, weight in module.named_parameters():
        if "lora_" in name:
            weight.data = torch.randn(weight.shape, generator=random) * scale / weight.shape[-1] ** 0.5
    module.save_pretrained(str(folder))
    module.unload()
    loaded.base.requires_grad_(False).eval()
    if hasattr(loaded.base, "peft_config"):
        del loaded.base.peft_config
    return folder

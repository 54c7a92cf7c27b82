"""Small real things that tests share: models of real architectures, adapters that change something, jobs."""

from __future__ import annotations

from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import GraniteConfig, GraniteForCausalLM, Qwen3Config, Qwen3ForCausalLM

from palate_bridge import tiny_models
from palate_bridge.model import LoadedModel

LLAMA_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
QWEN_TARGETS = [*LLAMA_TARGETS, "in_proj_qkv", "in_proj_z", "out_proj"]


def make_model(kind: str, folder: Path) -> Path:
    """A model folder of `llama`, `qwen3`, `qwen3_5` or `granite` with random weights."""
    folder.mkdir(parents=True, exist_ok=True)
    tiny_models.save_tiny(kind, folder)
    return folder


def build_qwen3() -> Qwen3ForCausalLM:
    """Norms on the heads of queries and keys, and heads wider than hidden size over their number."""
    return Qwen3ForCausalLM(Qwen3Config(**SMALL, num_attention_heads=6, head_dim=16))


def build_granite() -> GraniteForCausalLM:
    """Named like Llama, but it scales what each layer adds: a layer that must not be taken for Llama's."""
    return GraniteForCausalLM(GraniteConfig(**SMALL, num_attention_heads=4, residual_multiplier=0.5))


SMALL = {
    "vocab_size": tiny_models.VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
    "initializer_range": 0.2,
    "bos_token_id": None,
    "eos_token_id": None,
}
tiny_models.BUILDERS |= {"qwen3": build_qwen3, "granite": build_granite}


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

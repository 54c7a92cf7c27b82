"""An adapter that has learned nothing yet, from the seed alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn

from palate_bridge.lora import choose_targets, coverage, trainable
from palate_bridge.model import LoadedModel, detach_adapter
from palate_bridge.protocol import Lora


@contextmanager
def fresh_adapter(loaded: LoadedModel, lora: Lora, seed: int) -> Iterator[PeftModel]:
    """B is zero, so at first it changes nothing. Taken out again at the end."""
    targets = choose_targets(loaded.base.config.model_type, lora)
    coverage(loaded.base, targets)
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,  # type: ignore[arg-type]
        target_modules=targets,
        lora_dropout=0.0,
        bias="none",
        task_type="CAUSAL_LM",
    )
    # PEFT draws its own first weights from the global generator, which others rely on.
    with torch.random.fork_rng(devices=[]):
        module: Any = get_peft_model(loaded.base, config, autocast_adapter_dtype=True)
    try:
        initialise(module, seed)
        yield module
    finally:
        detach_adapter(loaded, module)


def initialise(module: nn.Module, seed: int) -> None:
    """A uniform in +-1/sqrt(inputs) (as PEFT does), B zero; from the seed, in the order of the names."""
    random = torch.Generator().manual_seed(seed)
    for name, weight in trainable(module):
        if ".lora_A." in name:
            bound = weight.shape[1] ** -0.5
            values = torch.rand(weight.shape, generator=random, dtype=torch.float32) * (2 * bound) - bound
            weight.data.copy_(values)
        else:
            weight.data.zero_()

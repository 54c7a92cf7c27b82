"""The two ways the one loaded model is run in training: as the teacher, and as the student."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from peft import PeftModel


@contextmanager
def teacher_mode(module: PeftModel) -> Iterator[None]:
    """Adapter off, no gradient, eval (so nothing is recomputed): the base itself."""
    was_training = module.training
    module.eval()
    try:
        with module.disable_adapter(), torch.no_grad():
            yield
    finally:
        module.train(was_training)


@contextmanager
def student_mode(module: PeftModel, gradient_checkpointing: bool) -> Iterator[None]:
    """Adapter on. Layers recompute in train mode only; without dropout it computes what eval does."""
    base: Any = module.get_base_model()
    if gradient_checkpointing:
        base.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        module.train()
    try:
        yield
    finally:
        module.eval()
        if gradient_checkpointing:
            base.gradient_checkpointing_disable()

"""AdamW over the adapter's weights, and the learning rate as a function of the step alone."""

from __future__ import annotations

import math

import torch
from torch import nn

from palate_bridge.lora import trainable
from palate_bridge.protocol import Optimizer

EPSILON = 1e-8


def make_optimizer(module: nn.Module, recipe: Optimizer) -> torch.optim.AdamW:
    """foreach=False: one weight after another, the same sum in the same order everywhere."""
    return torch.optim.AdamW(
        [weight for _, weight in trainable(module)],
        lr=recipe.learning_rate,
        betas=recipe.betas,
        eps=EPSILON,
        weight_decay=recipe.weight_decay,
        foreach=False,
    )


def learning_rate(recipe: Optimizer, step: int, total: int) -> float:
    """Of step 0 .. total-1. Linear up to the full rate at the last warm-up step, then constant or half a
    cosine.
    """
    warm = round(recipe.warmup_ratio * total)
    if step < warm:
        return recipe.learning_rate * (step + 1) / warm
    if recipe.schedule == "constant":
        return recipe.learning_rate
    done = (step - warm) / max(1, total - warm)
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * done))

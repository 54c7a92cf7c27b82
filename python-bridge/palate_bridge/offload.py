"""Activations that wait in host memory for the backward pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks


def offloaded(device: torch.device) -> saved_tensors_hooks:
    """Within it, what autograd keeps goes to pinned host memory and comes back to `device` when asked for.
    Weights stay: they are there anyway. On a CPU nothing moves.
    """

    def pack(tensor: Tensor) -> Any:
        if tensor.device.type == "cpu" or is_weight(tensor):
            return tensor
        host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        return host.copy_(tensor, non_blocking=True)

    def unpack(kept: Tensor) -> Tensor:
        return kept.to(device, non_blocking=True)

    return saved_tensors_hooks(pack, unpack)


def is_weight(tensor: Tensor) -> bool:
    return isinstance(tensor, nn.Parameter) or isinstance(tensor._base, nn.Parameter)

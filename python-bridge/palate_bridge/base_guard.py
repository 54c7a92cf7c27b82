"""Proof that the teacher stays the base: its logits on a probe before, during and after training."""

from __future__ import annotations

import torch
from peft import PeftModel
from torch import Tensor

from palate_bridge.errors import BadInput, JobError
from palate_bridge.model import LoadedModel
from palate_bridge.modes import teacher_mode
from palate_bridge.prompts_file import Presentations

PROBE_TOKENS = 64


class BaseGuard:
    """Made before the adapter is there. The probe is the start of a student prompt, so it costs next to
    nothing.
    """

    def __init__(self, loaded: LoadedModel, prompts: Presentations) -> None:
        if not prompts:
            raise BadInput("the prompts file has no presentation.")
        self._loaded = loaded
        self._ids = prompts[min(prompts)].student_ids[:PROBE_TOKENS]
        self._before = self._logits(None)

    def check(self, module: PeftModel | None) -> None:
        """Bitwise on a CPU. On an accelerator the same kernel may be picked differently: to 1e-3."""
        now = self._logits(module)
        cpu = self._loaded.device.type == "cpu"
        same = (
            torch.equal(now, self._before) if cpu else torch.allclose(now, self._before, rtol=1e-3, atol=1e-3)
        )
        if not same:
            raise JobError("The base model's logits changed in training: the teacher is no longer the base.")

    def _logits(self, module: PeftModel | None) -> Tensor:
        if module is None:
            with torch.no_grad():
                return self._last(self._loaded.base)
        with teacher_mode(module):
            return self._last(module)

    def _last(self, module: torch.nn.Module) -> Tensor:
        return self._loaded.lm_head(self._loaded.hidden_states(module, self._ids)[-1])

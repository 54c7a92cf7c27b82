"""The next token of a reply from its logits. Nothing is inherited from generation_config.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import torch
from torch import Tensor

from palate_bridge.protocol import Decode


def next_token(logits_V: Tensor, seen_ids: Sequence[int], decode: Decode, rng: torch.Generator) -> int:
    """logits in fp32; seen_ids: prompt and reply so far, for the repetition penalty.

    Order of the steps, as in transformers: repetition_penalty, temperature, top_k, top_p, min_p, draw.
    Temperature 0 takes the likeliest token after the penalty. The draw happens on the CPU, so that one seed
    gives one stream on every device.
    """
    logits_V = penalise(logits_V, seen_ids, decode.repetition_penalty)
    if decode.temperature == 0:
        return int(logits_V.argmax())
    logits_V = keep_top_k(logits_V / decode.temperature, decode.top_k)
    logits_V = keep_min_p(keep_top_p(logits_V, decode.top_p), decode.min_p)
    return int(torch.multinomial(logits_V.softmax(-1).cpu(), 1, generator=rng))


def penalise(logits_V: Tensor, seen_ids: Sequence[int], penalty: float) -> Tensor:
    """Of seen tokens, positive logits are divided by it and negative ones multiplied (Keskar et al. 2019)."""
    if penalty == 1:
        return logits_V
    seen = torch.tensor(sorted(set(seen_ids)), device=logits_V.device)
    chosen = logits_V[seen]
    return logits_V.index_copy(0, seen, torch.where(chosen > 0, chosen / penalty, chosen * penalty))


def keep_top_k(logits_V: Tensor, k: int) -> Tensor:
    """The k likeliest and whatever ties with the last of them; 0 keeps all."""
    if k == 0 or k >= logits_V.shape[0]:
        return logits_V
    return logits_V.masked_fill(logits_V < logits_V.topk(k).values[-1], -torch.inf)


def keep_top_p(logits_V: Tensor, p: float) -> Tensor:
    """The fewest likeliest tokens whose probabilities reach p."""
    if p == 1:
        return logits_V
    ordered, places = logits_V.sort(descending=True, stable=True)
    probabilities = ordered.softmax(-1)
    reached_before = probabilities.cumsum(-1) - probabilities
    reached_before[0] = 0
    return logits_V.index_fill(0, places[reached_before >= p], -torch.inf)


def keep_min_p(logits_V: Tensor, p: float) -> Tensor:
    """Tokens at least p times as likely as the likeliest."""
    if p == 0:
        return logits_V
    probabilities = logits_V.softmax(-1)
    return logits_V.masked_fill(probabilities < p * probabilities.max(), -torch.inf)


def reply_rng(seed: int, question_id: str, order: str, sample: int) -> torch.Generator:
    """Each reply has its own stream, whatever was answered before it or in an earlier attempt."""
    name = json.dumps([seed, question_id, order, sample], ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(name.encode("utf-8")).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)

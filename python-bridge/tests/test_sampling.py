"""Each filter against a plain reading of its definition."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from palate_bridge.protocol import Decode
from palate_bridge.sampling import (
    keep_min_p,
    keep_top_k,
    keep_top_p,
    next_token,
    penalise,
    reply_rng,
)

PLAIN = Decode(
    max_reasoning_tokens=0,
    choice="letters",
    temperature=1.0,
    top_p=1.0,
    top_k=0,
    min_p=0.0,
    repetition_penalty=1.0,
)


def some_logits(seed: int, size: int = 40) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed)) * 2


def kept(logits: torch.Tensor) -> set[int]:
    return {at for at, value in enumerate(logits.tolist()) if value > -math.inf}


def softmax(values: list[float]) -> list[float]:
    top = max(values)
    powers = [math.exp(value - top) for value in values]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("seed", range(5))
def test_filters_keep_what_their_definitions_keep(seed: int) -> None:
    logits = some_logits(seed)
    odds = softmax(logits.tolist())
    ranked = sorted(range(len(odds)), key=lambda at: -odds[at])
    assert kept(keep_top_k(logits, 7)) == set(ranked[:7])
    for p in (0.05, 0.5, 0.9, 0.999):
        nucleus: list[int] = []
        while sum(odds[at] for at in nucleus) < p:
            nucleus.append(ranked[len(nucleus)])
        assert kept(keep_top_p(logits, p)) == set(nucleus)
    assert kept(keep_min_p(logits, 0.2)) == {at for at in ranked if odds[at] >= 0.2 * odds[ranked[0]]}


def test_filters_that_are_off_change_nothing() -> None:
    logits = some_logits(1)
    for left in (
        keep_top_k(logits, 0),
        keep_top_k(logits, 99),
        keep_top_p(logits, 1.0),
        keep_min_p(logits, 0.0),
    ):
        assert torch.equal(left, logits)
    assert torch.equal(penalise(logits, [1, 2], 1.0), logits)


def test_one_token_always_stays() -> None:
    logits = some_logits(2)
    best = {int(logits.argmax())}
    assert (
        kept(keep_top_k(logits, 1)) == kept(keep_top_p(logits, 1e-9)) == kept(keep_min_p(logits, 1.0)) == best
    )


def test_the_penalty_lowers_each_seen_token_once() -> None:
    logits = torch.tensor([2.0, -2.0, 0.5, 3.0])
    assert penalise(logits, [0, 0, 1], 2.0).tolist() == [1.0, -4.0, 0.5, 3.0]


def test_temperature_zero_takes_the_likeliest_after_the_penalty() -> None:
    logits = torch.tensor([2.0, 1.5, 0.5])
    greedy = replace(PLAIN, temperature=0.0, top_k=1)
    assert next_token(logits, [], greedy, reply_rng(0, "q", "published", 0)) == 0
    assert (
        next_token(logits, [0], replace(greedy, repetition_penalty=2.0), reply_rng(0, "q", "published", 0))
        == 1
    )


def test_draws_follow_the_tempered_and_filtered_odds() -> None:
    logits = torch.tensor([1.0, 0.0, -1.0, -9.0])
    rng = reply_rng(3, "q", "published", 0)
    rule = replace(PLAIN, temperature=2.0, top_k=3)
    draws = [next_token(logits, [], rule, rng) for _ in range(4000)]
    wanted = softmax([0.5, 0.0, -0.5])
    shares = [draws.count(token) / len(draws) for token in range(4)]
    assert shares[3] == 0
    assert shares[:3] == pytest.approx(wanted, abs=0.03)


def test_each_reply_has_its_own_stream_of_draws() -> None:
    places = [(1, "q", "published", 0), (2, "q", "published", 0), (1, "r", "published", 0)]
    places += [(1, "q", "reversed", 0), (1, "q", "published", 1)]
    streams = [tuple(torch.rand(4, generator=reply_rng(*place)).tolist()) for place in places]
    assert len(set(streams)) == len(places)
    assert tuple(torch.rand(4, generator=reply_rng(*places[0])).tolist()) == streams[0]

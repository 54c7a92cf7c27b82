"""The memory formulas of `palate plan` (docs/cost-model.md) rest on these measurements: bytes of activations
a token, counted by autograd's hooks and the profiler on small random models. Another transformers or PEFT may
keep other tensors; then this test fails, and both the fixture and orchestrator/cost/layer-memory.ts change.

    python -m tests.test_activation_memory     writes the fixture again
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from torch.profiler import ProfilerActivity, profile
from transformers import LlamaConfig, LlamaForCausalLM, Qwen3_5ForCausalLM, Qwen3_5TextConfig

from palate_bridge.lora import TARGETS
from palate_bridge.losses import KlLoss, kl_sum

FIXTURE = Path(__file__).parents[2] / "test" / "fixtures" / "cost" / "activations.json"
TOKENS = 512
RANK = 4
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512}
DELTA = {"linear_num_key_heads": 2, "linear_num_value_heads": 6}
DELTA |= {"linear_key_head_dim": 32, "linear_value_head_dim": 32}
BODIES: dict[str, dict[str, Any]] = {
    "llama": {"model_type": "llama", "hidden_size": 64, "intermediate_size": 384, **HEADS},
    "gated_attention": {
        "model_type": "qwen3_5_text",
        "hidden_size": 128,
        "intermediate_size": 768,
        "head_dim": 16,
        "kind": "full_attention",
        **HEADS,
    },
    "gated_delta": {
        "model_type": "qwen3_5_text",
        "hidden_size": 64,
        "intermediate_size": 192,
        "head_dim": 16,
        "kind": "linear_attention",
        **HEADS,
        **DELTA,
    },
}


def build(body: dict[str, Any], layers: int) -> Any:
    sizes = {key: value for key, value in body.items() if key not in ("model_type", "kind")}
    if body["model_type"] == "llama":
        config = LlamaConfig(num_hidden_layers=layers, bos_token_id=None, eos_token_id=None, **sizes)
        return LlamaForCausalLM(config)
    kinds = [body["kind"]] * layers
    return Qwen3_5ForCausalLM(Qwen3_5TextConfig(num_hidden_layers=layers, layer_types=kinds, **sizes))


def adapted(body: dict[str, Any], layers: int, dtype: str) -> Any:
    base = build(body, layers).to(DTYPES[dtype]).eval().requires_grad_(False)
    present = {name.rpartition(".")[2] for name, _ in base.named_modules()}
    targets = [name for name in TARGETS[body["model_type"]] if name in present]
    return get_peft_model(base, LoraConfig(r=RANK, target_modules=targets, task_type="CAUSAL_LM"))


def run(module: Any) -> torch.Tensor:
    ids = torch.zeros((1, TOKENS), dtype=torch.long)
    return module.get_base_model().model(input_ids=ids, use_cache=False).last_hidden_state


def saved_bytes(module: Any) -> int:
    """Of all tensors that autograd keeps, each storage once, weights left out."""
    found: dict[int, int] = {}
    alive: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if not isinstance(tensor, nn.Parameter):
            storage = tensor.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
        return tensor

    weights = {weight.untyped_storage().data_ptr() for weight in module.parameters()}
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        alive.append(run(module))
    return sum(size for place, size in found.items() if place not in weights)


def peak_bytes(work: Any) -> int:
    """Highest sum of allocations that `work` makes, what there was before left out."""
    work()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        work()
    results: Any = record.profiler.kineto_results  # type: ignore[union-attr]
    events = sorted(
        (event for event in results.events() if event.name() == "[memory]"), key=lambda it: it.start_ns()
    )
    now = highest = 0
    for event in events:
        now += event.nbytes()
        highest = max(highest, now)
    return highest


def layer_bytes(body: dict[str, Any], dtype: str) -> float:
    few, more = saved_bytes(adapted(body, 1, dtype)), saved_bytes(adapted(body, 3, dtype))
    return (more - few) / 2 / TOKENS


def checkpointed_peak(body: dict[str, Any], dtype: str) -> float:
    module = adapted(body, 2, dtype)
    module.get_base_model().gradient_checkpointing_enable({"use_reentrant": False})
    module.train()
    return peak_bytes(lambda: run(module).float().sum().backward()) / TOKENS


@torch.no_grad()
def forward_peak(body: dict[str, Any], dtype: str, adapter: bool) -> float:
    module = adapted(body, 2, dtype)
    if adapter:
        return peak_bytes(lambda: run(module)) / TOKENS
    with module.disable_adapter():
        return peak_bytes(lambda: run(module)) / TOKENS


def loss_copies(direction: str) -> float:
    """Float32 tensors of [chunk, V] that exist at once in the loss."""
    vocabulary, hidden, chunk = 20_000, 8, 64
    weight = torch.randn(vocabulary, hidden)
    student, teacher = torch.randn(chunk, hidden, requires_grad=True), torch.randn(chunk, hidden)

    def head(states: torch.Tensor, columns: Any = None) -> torch.Tensor:
        return states @ weight.T

    def work() -> None:
        kl_sum(head, student, teacher, None, KlLoss(direction, 1.0, chunk, None)).backward()

    return peak_bytes(work) / (4 * vocabulary * chunk)


def measure(name: str, dtype: str) -> dict[str, Any]:
    body = BODIES[name]
    return {
        "name": name,
        "dtype": dtype,
        "config": body,
        "rank": RANK,
        "saved_a_layer": layer_bytes(body, dtype),
        "checkpointed_peak_of_two_layers": checkpointed_peak(body, dtype),
        "forward_peak": forward_peak(body, dtype, False),
        "forward_peak_with_adapter": forward_peak(body, dtype, True),
    }


def measure_all() -> dict[str, Any]:
    torch.manual_seed(0)
    return {
        "tokens": TOKENS,
        "bytes_a_token": [measure(name, dtype) for name in BODIES for dtype in DTYPES],
        "loss_copies": {name: loss_copies(name) for name in ("forward", "reverse", "jensen_shannon")},
    }


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_autograd_keeps_what_the_memory_formulas_say(name: str, dtype: str) -> None:
    rows = json.loads(FIXTURE.read_text(encoding="utf-8"))["bytes_a_token"]
    expected = next(row for row in rows if (row["name"], row["dtype"]) == (name, dtype))
    found = measure(name, dtype)
    assert found.pop("config") == expected.pop("config")
    names = ("name", "dtype")
    assert [found.pop(key) for key in names] == [expected.pop(key) for key in names]
    assert found == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("direction", ["forward", "reverse", "jensen_shannon"])
def test_the_loss_holds_as_many_logits_as_the_memory_formulas_say(direction: str) -> None:
    expected = json.loads(FIXTURE.read_text(encoding="utf-8"))["loss_copies"][direction]
    assert loss_copies(direction) == pytest.approx(expected, rel=0.01)


if __name__ == "__main__":
    torch.set_num_threads(1)
    FIXTURE.parent.mkdir(parents=True, exist_ok=True)
    FIXTURE.write_text(json.dumps(measure_all(), indent=1) + "\n", encoding="utf-8")

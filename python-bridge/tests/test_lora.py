"""Which layers are trained, and how an adapter starts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from palate_bridge.errors import BadInput
from palate_bridge.fresh_adapter import fresh_adapter
from palate_bridge.lora import TARGETS, check_adapter_folder, choose_targets, coverage, trainable
from palate_bridge.model import LoadedModel, load_model
from palate_bridge.protocol import Lora
from tests.tiny import make_adapter

AUTO = Lora(rank=4, alpha=8.0, targets="auto")


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def test_auto_reaches_mixer_and_mlp_of_every_layer_and_nothing_else(loaded: LoadedModel) -> None:
    kind = loaded.base.config.model_type
    found = coverage(loaded.base, choose_targets(kind, AUTO))
    per_layer = {"llama": 2 * 7, "qwen3_5_text": 3 * (3 + 3) + (4 + 3)}
    assert len(found.modules) == per_layer[kind]
    assert all(name.startswith("model.layers.") for name in found.modules)


def test_the_seven_usual_names_miss_the_linear_attention_and_are_refused(loaded_qwen: LoadedModel) -> None:
    with pytest.raises(BadInput, match="3 places untrained, first the mixer of layer 0"):
        coverage(loaded_qwen.base, list(TARGETS["llama"]))


@pytest.mark.parametrize("name", ["lm_head", "embed_tokens"])
def test_head_and_embeddings_are_no_targets(loaded_llama: LoadedModel, name: str) -> None:
    with pytest.raises(BadInput, match=r"lora\.targets"):
        coverage(loaded_llama.base, [*TARGETS["llama"], name])


def test_a_name_that_the_model_does_not_have_is_refused(loaded_llama: LoadedModel) -> None:
    with pytest.raises(BadInput, match="no linear module c_attn"):
        coverage(loaded_llama.base, [*TARGETS["llama"], "c_attn"])


def test_an_unknown_architecture_needs_named_targets() -> None:
    with pytest.raises(BadInput, match="gpt2"):
        choose_targets("gpt2", AUTO)
    assert choose_targets("gpt2", replace(AUTO, targets=["c_attn"])) == ["c_attn"]


def start_of(loaded: LoadedModel, seed: int) -> dict[str, torch.Tensor]:
    with fresh_adapter(loaded, AUTO, seed) as module:
        return {name: weight.detach().clone() for name, weight in trainable(module)}


def test_the_start_depends_on_the_seed_alone(loaded: LoadedModel) -> None:
    torch.manual_seed(1)
    first = start_of(loaded, 5)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    again, other = start_of(loaded, 5), start_of(loaded, 6)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)
    assert all(not weight.any() for name, weight in first.items() if ".lora_B." in name)


def test_a_fresh_adapter_changes_nothing_and_is_all_that_is_trained(loaded: LoadedModel) -> None:
    with torch.no_grad():
        before = loaded.hidden_states(loaded.base, [1, 2, 3])
    with fresh_adapter(loaded, AUTO, 5) as module, torch.no_grad():
        assert torch.equal(loaded.hidden_states(module, [1, 2, 3]), before)
        with_gradient = {name for name, weight in module.named_parameters() if weight.requires_grad}
        assert with_gradient == {name for name, _ in trainable(module)}
    assert not any("lora" in name for name, _ in loaded.base.named_modules())


def test_adapters_of_a_bfloat16_base_are_float32(tiny_llama: Path) -> None:
    loaded = load_model(tiny_llama, "tiny", "bfloat16", "cpu")
    with fresh_adapter(loaded, AUTO, 5) as module:
        assert {weight.dtype for _, weight in trainable(module)} == {torch.float32}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bias", "all"),
        ("modules_to_save", ["lm_head"]),
        ("peft_type", "IA3"),
        ("lora_dropout", 0.1),
    ],
)
def test_an_adapter_that_would_change_the_base_is_refused(
    loaded_llama: LoadedModel, tmp_path: Path, name: str, value: object
) -> None:
    config = make_adapter(loaded_llama, tmp_path) / "adapter_config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {name: value}))
    with pytest.raises(BadInput, match=name):
        check_adapter_folder(tmp_path)

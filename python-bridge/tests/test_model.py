"""The base stays what it was, whatever adapters come and go."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from palate_bridge.errors import BadInput
from palate_bridge.model import LoadedModel, forward, load_model
from tests.tiny import make_adapter

IDS = [5, 9, 2, 40, 77, 301, 8]


@pytest.fixture(params=["loaded_llama", "loaded_qwen"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return request.getfixturevalue(request.param)


def logits(loaded: LoadedModel, module: torch.nn.Module) -> torch.Tensor:
    with torch.no_grad():
        return loaded.lm_head(loaded.hidden_states(module, IDS))


def test_hidden_states_through_the_head_are_the_models_own_logits(loaded: LoadedModel) -> None:
    with torch.no_grad():
        whole = loaded.base(input_ids=torch.tensor([IDS])).logits[0].float()
    assert torch.equal(logits(loaded, loaded.base), whole)


def test_an_adapter_changes_the_logits_and_leaves_the_base_bitwise_as_it_was(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    before = logits(loaded, loaded.base)
    weights = {name: tensor.clone() for name, tensor in loaded.base.state_dict().items()}
    folder = make_adapter(loaded, tmp_path / "adapter")
    with loaded.with_adapter(folder) as module:
        assert not torch.equal(logits(loaded, module), before)
        assert not module.training
    assert torch.equal(logits(loaded, loaded.base), before)
    after = loaded.base.state_dict()
    assert after.keys() == weights.keys()
    assert all(torch.equal(after[name], weights[name]) for name in weights)
    assert not any(weight.requires_grad for weight in loaded.base.parameters())


def test_a_cached_step_continues_the_whole_sequence(loaded: LoadedModel) -> None:
    with torch.no_grad():
        start = forward(loaded.base, torch.tensor([IDS[:-1]]), use_cache=True)
        last = forward(loaded.base, torch.tensor([IDS[-1:]]), start.cache, use_cache=True).hidden[0, -1]
        whole = loaded.hidden_states(loaded.base, IDS)[-1]
    assert torch.allclose(last, whole, atol=1e-5)


def test_an_adapter_whose_tensors_have_other_names_is_refused(loaded: LoadedModel, tmp_path: Path) -> None:
    folder = make_adapter(loaded, tmp_path / "adapter")
    file = folder / "adapter_model.safetensors"
    renamed = {
        name.replace("model.layers.0", "model.language_model.layers.0"): t
        for name, t in load_file(file).items()
    }
    save_file(renamed, file, metadata={"format": "pt"})
    before = logits(loaded, loaded.base)
    with pytest.raises(BadInput, match="no counterpart"), loaded.with_adapter(folder):
        pass
    assert torch.equal(logits(loaded, loaded.base), before)


def test_a_missing_adapter_folder_leaves_the_base_usable(loaded: LoadedModel, tmp_path: Path) -> None:
    before = logits(loaded, loaded.base)
    with pytest.raises(BadInput, match="no adapter"), loaded.with_adapter(tmp_path / "absent"):
        pass
    assert torch.equal(logits(loaded, loaded.base), before)


def test_a_folder_with_another_digest_is_refused(tiny_llama: Path, tmp_path: Path) -> None:
    (tmp_path / "digest.json").write_text('{"digest": "a"}')
    with pytest.raises(BadInput, match="other weights"):
        load_model(tmp_path, "b", "float32", "cpu")

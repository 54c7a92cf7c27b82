"""Fixtures of the whole suite. Models are made once; a test that attaches an adapter takes it out again."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from palate_bridge.model import LoadedModel, load_model
from tests.tiny import make_model

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model("llama", tmp_path_factory.mktemp("models") / "llama")


@pytest.fixture(scope="session")
def tiny_qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model("qwen3_5", tmp_path_factory.mktemp("models") / "qwen3_5")


@pytest.fixture(scope="session")
def loaded_qwen3(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = make_model("qwen3", tmp_path_factory.mktemp("models") / "qwen3")
    return load_model(folder, "tiny", "float32", "cpu")


@pytest.fixture(scope="session")
def loaded_llama(tiny_llama: Path) -> LoadedModel:
    return load_model(tiny_llama, "tiny", "float32", "cpu")


@pytest.fixture(scope="session")
def loaded_qwen(tiny_qwen: Path) -> LoadedModel:
    return load_model(tiny_qwen, "tiny", "float32", "cpu")

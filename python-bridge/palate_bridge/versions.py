"""Versions of what a result may depend on, without importing any of it."""

from __future__ import annotations

import importlib.metadata
import platform

PACKAGES = ("torch", "transformers", "tokenizers", "peft", "safetensors", "pyarrow", "numpy")


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in PACKAGES
    }

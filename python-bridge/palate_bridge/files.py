"""Files that are either whole or absent: every write goes to a temporary name and is then renamed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    write_atomic(path, json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1) + "\n")


def write_atomic(path: Path, content: str | bytes) -> None:
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def temporary_name(path: Path) -> Path:
    """Beside the target, and of this process alone."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def sync_tree(folder: Path) -> None:
    """Bring a folder's files to disk before it is renamed into place. safetensors makes its own private."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            path.chmod(0o644)
            with path.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256_file(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()

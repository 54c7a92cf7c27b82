"""sha256 of a model folder: over the names and hashes of its files, sorted. Kept by (path, size, mtime)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from palate_bridge.errors import BadInput
from palate_bridge.files import sha256_file, write_json

PATTERNS = ("*.json", "*.safetensors", "*.jinja", "*.model", "*.txt")
MARKER = "digest.json"
Kept = dict[str, list[int | str]]


def folder_digest(folder: Path, cache: Path) -> str:
    """Raises BadInput when a folder that was converted here no longer holds what was written."""
    hashes = file_hashes(folder, cache)
    digest = combine(hashes)
    marker = folder / MARKER
    if marker.exists() and json.loads(marker.read_text(encoding="utf-8"))["digest"] != digest:
        raise BadInput(f"{folder} was changed after it was made.", f"Delete {folder} and resolve again.")
    return digest


def write_marker(folder: Path) -> None:
    hashes = {path.name: sha256_file(path) for path in model_files(folder)}
    write_json(folder / MARKER, {"digest": combine(hashes), "files": hashes})


def combine(hashes: dict[str, str]) -> str:
    return hashlib.sha256(
        "".join(f"{name}\n{hashes[name]}\n" for name in sorted(hashes)).encode()
    ).hexdigest()


def file_hashes(folder: Path, cache: Path) -> dict[str, str]:
    """Weights are hashed once: a file of the same path, size and mtime is taken to be the same."""
    store = cache / "digests.json"
    known = read_kept(store)
    found: dict[str, str] = {}
    fresh: Kept = {}
    for path in model_files(folder):
        status, place = path.stat(), str(path.resolve())
        stamp = [status.st_size, status.st_mtime_ns]
        entry = known.get(place)
        sha256 = str(entry[2]) if entry and entry[:2] == stamp else sha256_file(path)
        found[path.name] = sha256
        fresh[place] = [*stamp, sha256]
    if any(known.get(place) != entry for place, entry in fresh.items()):
        cache.mkdir(parents=True, exist_ok=True)
        write_json(store, read_kept(store) | fresh)
    return found


def read_kept(store: Path) -> Kept:
    """Nothing is lost with this file but time."""
    try:
        return dict(json.loads(store.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def model_files(folder: Path) -> list[Path]:
    found = {path for pattern in PATTERNS for path in folder.glob(pattern)}
    return sorted(path for path in found if path.name != MARKER and path.is_file())

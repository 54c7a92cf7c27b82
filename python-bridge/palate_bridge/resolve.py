"""From a model's name to a folder of weights and tokenizer, with a digest that names exactly these weights.

Sources: `bundled:<name>` (weights that came with a package), `tiny:<architecture>` (random weights, for smoke
runs), a local folder, or an id on the Hugging Face hub.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from palate_bridge.converted import bundled, tiny
from palate_bridge.errors import BadInput
from palate_bridge.folder_digest import folder_digest
from palate_bridge.hub import fetch
from palate_bridge.protocol import ResolveJob


@dataclass(frozen=True)
class ResolvedModel:
    path: Path
    revision: str | None
    digest: str
    architecture: str


def resolve(job: ResolveJob) -> ResolvedModel:
    """Raises BadInput, with what to do, when there is no such model or it cannot be had from here."""
    scheme, colon, name = job.source.partition(":")
    cache = Path(job.cache_dir)
    if colon and scheme in ("bundled", "tiny"):
        if job.revision is not None:
            raise BadInput(f"{job.source} has no revisions, but the job names {job.revision}.")
        return describe((bundled if scheme == "bundled" else tiny)(name, cache), cache)
    if Path(job.source).is_dir():
        return describe(checked_local(Path(job.source), job), cache)
    if looks_like_path(job.source):
        raise BadInput(
            f"no folder {job.source}", "Give an existing folder, or an id on the hub (owner/name)."
        )
    folder, sha = fetch(job.source, job.revision, cache, job.tokenizer_only)
    return ResolvedModel(folder, sha, f"hub:{job.source}@{sha}", architecture(folder))


def describe(folder: Path, cache: Path) -> ResolvedModel:
    return ResolvedModel(folder, None, folder_digest(folder, cache), architecture(folder))


def checked_local(folder: Path, job: ResolveJob) -> Path:
    if job.revision is not None:
        raise BadInput(f"{folder} is a local folder and has no revisions, but the job names {job.revision}.")
    if not job.tokenizer_only and not any(folder.glob("*.safetensors")):
        raise BadInput(f"{folder} has no *.safetensors", "Convert the weights to safetensors first.")
    return folder.absolute()


def looks_like_path(source: str) -> bool:
    return source.startswith((".", "/", "~")) or source.count("/") > 1


def architecture(folder: Path) -> str:
    path = folder / "config.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["architectures"][0])
    except (OSError, ValueError, LookupError, TypeError) as cause:
        raise BadInput(
            f"{path} names no architecture", "The folder must hold a transformers model."
        ) from cause

"""A model from the Hugging Face hub, at one commit. Errors say what to do and never show a token."""

from __future__ import annotations

import os
from pathlib import Path

from palate_bridge.errors import BadInput, JobError

TOKENIZER_FILES = ["config.json", "generation_config.json", "tokenizer*", "*.jinja", "vocab.*", "merges.txt"]
TOKENIZER_FILES += ["special_tokens_map.json", "added_tokens.json", "*.model"]
WEIGHT_FILES = ["*.safetensors", "*.safetensors.index.json"]


def fetch(source: str, revision: str | None, cache: Path, tokenizer_only: bool) -> tuple[Path, str]:
    """Folder and commit. Works offline when the files are in the cache already."""
    from huggingface_hub import snapshot_download

    set_clean_token()
    wanted = TOKENIZER_FILES if tokenizer_only else TOKENIZER_FILES + WEIGHT_FILES
    try:
        folder = Path(
            snapshot_download(source, revision=revision, cache_dir=cache / "hub", allow_patterns=wanted)
        )
    except Exception as cause:
        # `from None`: the text of a request error may hold more than people should see.
        raise explain(cause, source, revision) from None
    if not tokenizer_only and not any(folder.glob("*.safetensors")):
        raise BadInput(f"{source} has no safetensors at its top level.", "Choose a model that has.")
    return folder, folder.name


def set_clean_token() -> None:
    """A token that came out of a file carries its line end, or the byte-order mark of a Windows editor."""
    token = os.environ.get("HF_TOKEN")
    if token is not None:
        os.environ["HF_TOKEN"] = token.strip().strip("\ufeff").strip()


def explain(cause: Exception, source: str, revision: str | None) -> JobError:
    from huggingface_hub import errors

    status = getattr(getattr(cause, "response", None), "status_code", None)
    token = bool(os.environ.get("HF_TOKEN"))
    page = f"https://huggingface.co/{source}"
    if isinstance(cause, errors.GatedRepoError):
        return gated(source, page, status)
    if status == 401 and token:
        return BadInput(
            f"the hub does not accept the token in HF_TOKEN (asked for {source}).", "Renew the token."
        )
    if isinstance(cause, errors.RevisionNotFoundError):
        return BadInput(f"{source} has no revision {revision}.", f"See the commits on {page}.")
    if isinstance(cause, errors.RepositoryNotFoundError):
        more = "" if token else " or not visible without a token"
        return BadInput(f"model {source}: not found on the hub{more}.", "Check the name, or set HF_TOKEN.")
    if isinstance(cause, errors.HFValidationError):
        return BadInput(
            f"{source} is no folder and no id on the hub.", "Give owner/name, or an existing folder."
        )
    if status is not None:
        return JobError(f"the hub answered {status} for {source}.", "Try again later.")
    return BadInput(
        f"{source} is not in the cache and the hub cannot be reached ({type(cause).__name__}).",
        "Connect, or download the model elsewhere and give its folder.",
    )


def gated(source: str, page: str, status: int | None) -> BadInput:
    if status == 403:
        return BadInput(f"model {source} is gated: this account has no access yet.", f"Ask for it on {page}.")
    return BadInput(f"model {source} is gated.", f"Accept its terms on {page} and set HF_TOKEN.")

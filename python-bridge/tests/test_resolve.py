"""From a name to a folder: the same weights give the same digest, and a refusal says what to do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palate_bridge.errors import BadInput
from palate_bridge.folder_digest import folder_digest
from palate_bridge.model import load_model
from palate_bridge.protocol import ResolveJob
from palate_bridge.resolve import resolve
from tests.training import BRIDGE, events, run_job


def job(source: str | Path, cache: Path, **changes: Any) -> ResolveJob:
    wanted = ResolveJob(
        protocol=1,
        kind="resolve",
        source=str(source),
        revision=None,
        cache_dir=str(cache),
        tokenizer_only=False,
    )
    return replace(wanted, **changes)


@pytest.mark.parametrize(
    ("name", "architecture"), [("llama", "LlamaForCausalLM"), ("qwen3_5", "Qwen3_5ForCausalLM")]
)
def test_a_tiny_model_is_the_same_in_any_cache_and_loads(
    name: str, architecture: str, tmp_path: Path
) -> None:
    found = resolve(job(f"tiny:{name}", tmp_path / "one"))
    assert (found.architecture, found.revision) == (architecture, None)
    again = resolve(job(f"tiny:{name}", tmp_path / "two"))
    assert found.digest == again.digest != resolve(job("tiny:llama", tmp_path / "one")).path
    loaded = load_model(found.path, found.digest, "float32", "cpu")
    assert len(loaded.tokenizer) <= loaded.base.config.vocab_size
    assert loaded.tokenizer.chat_template


def test_a_model_is_made_once_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    first = resolve(job("tiny:llama", tmp_path))
    config = first.path / "config.json"
    made = config.stat().st_mtime_ns
    assert resolve(job("tiny:llama", tmp_path)) == first
    assert config.stat().st_mtime_ns == made
    config.write_text(config.read_text() + " ")
    with pytest.raises(BadInput, match="changed after it was made"):
        resolve(job("tiny:llama", tmp_path))


def test_callers_at_once_end_with_one_whole_model(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from palate_bridge.protocol import ResolveJob\n"
        "from palate_bridge.resolve import resolve\n"
        "print(resolve(ResolveJob(1, 'resolve', 'tiny:llama', None, sys.argv[1], False)).digest)\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], cwd=BRIDGE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = {process.communicate(timeout=120)[0].strip() for process in running}
    assert len(said) == 1
    assert all(process.returncode == 0 for process in running)
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny-llama-1"]


def test_a_local_folder_is_named_by_its_content_and_not_by_its_place(
    tiny_llama: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(tiny_llama, tmp_path / "copy")
    one, two = (resolve(job(folder, tmp_path / "cache")) for folder in (tiny_llama, copy))
    assert one.digest == two.digest
    config = copy / "config.json"
    config.write_text(config.read_text() + " ")
    assert resolve(job(copy, tmp_path / "cache")).digest != one.digest


def test_weights_are_hashed_once(tiny_llama: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_llama, tmp_path / "copy")
    cache = tmp_path / "cache"
    digest = folder_digest(folder, cache)
    kept = json.loads((cache / "digests.json").read_text())
    weights = str((folder / "model.safetensors").resolve())
    kept[weights][2] = "0" * 64
    (cache / "digests.json").write_text(json.dumps(kept))
    assert folder_digest(folder, cache) != digest, "the kept hash was used"


@pytest.mark.parametrize(
    ("source", "revision", "said"),
    [
        ("tiny:gpt", None, "no tiny model gpt; there are granite, llama, qwen3, qwen3_5"),
        ("tiny:llama", "main", "has no revisions"),
        ("bundled:other", None, "no bundled model other"),
        ("./absent", None, "no folder ./absent"),
        ("/absent/model", None, "no folder /absent/model"),
        ("one:two/three", None, "no folder and no id on the hub"),
    ],
)
def test_a_source_that_is_none_is_refused_with_what_there_is(
    source: str, revision: str | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=said):
        resolve(job(source, tmp_path, revision=revision))


def test_a_folder_without_weights_or_config_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    with pytest.raises(BadInput, match=r"no \*\.safetensors"):
        resolve(job(folder, tmp_path))
    with pytest.raises(BadInput, match="names no architecture"):
        resolve(job(folder, tmp_path, tokenizer_only=True))


def test_a_job_tells_what_it_resolved(tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(vars(job("tiny:llama", tmp_path / "cache"))))
    assert run_job(path) == 0
    [found] = [line for line in events(path) if line["event"] == "model_resolved"]
    assert Path(found["path"], "tokenizer.json").exists()
    assert events(path)[-1]["event"] == "job_done"


def test_a_hub_that_cannot_be_reached_is_said_in_one_line_without_the_token(tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(vars(job("acme/model", tmp_path / "cache"))))
    secret = "hf_not_to_be_seen"
    process = subprocess.run(
        [sys.executable, "-m", "palate_bridge", str(path)],
        cwd=BRIDGE,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HF_TOKEN": f"{secret}\n"},
    )
    assert process.returncode == 78
    failed = events(path)[-1]
    assert failed["message"].startswith("acme/model is not in the cache and the hub cannot be reached")
    assert "folder" in failed["next_step"]
    assert secret not in process.stdout + process.stderr + (tmp_path / "events.jsonl").read_text()

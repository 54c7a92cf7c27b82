"""What the hub refuses is told apart: gated, not granted, missing, a bad token. By a loopback server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.training import BRIDGE

FILES = {"config.json": b'{"architectures": ["LlamaForCausalLM"]}', "tokenizer.json": b"{}"}
SHA = "1" * 40

PROGRAM = """
import sys
from palate_bridge.errors import JobError
from palate_bridge.protocol import ResolveJob
from palate_bridge.resolve import resolve
try:
    print(resolve(ResolveJob(1, "resolve", sys.argv[1], None, sys.argv[2], True)).digest)
except JobError as failure:
    print(failure.exit_code, failure.message, failure.next_step)
"""


class Hub(BaseHTTPRequestHandler):
    """acme/gated and acme/open; the token hf_granted may read both, hf_other one."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in ("", "hf_granted", "hf_other"):
            self.answer(401, b"", {"X-Error-Message": "Invalid credentials in Authorization header"})
        elif "/acme/gated/" in self.path + "/" and token != "hf_granted":
            self.answer(403 if token else 401, b"", {"X-Error-Code": "GatedRepo"})
        elif "/acme/gated" in self.path or "/acme/open" in self.path:
            self.serve()
        else:
            self.answer(404 if token else 401, b"", {"X-Error-Code": "RepoNotFound"})

    def serve(self) -> None:
        name = self.path.rpartition("/")[2]
        if "/resolve/" in self.path and name in FILES:
            self.answer(200, FILES[name], {"X-Repo-Commit": SHA, "ETag": f'"{name}"'})
        elif "/tree/" in self.path:
            files = [
                f'{{"type":"file","path":"{name}","size":{len(data)},"oid":"{name}"}}'
                for name, data in FILES.items()
            ]
            self.answer(200, f"[{','.join(files)}]".encode(), {"Content-Type": "application/json"})
        else:
            siblings = ",".join(f'{{"rfilename":"{name}"}}' for name in FILES)
            body = f'{{"id":"acme/open","sha":"{SHA}","siblings":[{siblings}]}}'
            self.answer(200, body.encode(), {"Content-Type": "application/json"})

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.parametrize(
    ("model", "token", "said"),
    [
        (
            "acme/gated",
            None,
            ["78 model acme/gated is gated.", "https://huggingface.co/acme/gated", "HF_TOKEN"],
        ),
        ("acme/gated", "hf_other", ["this account has no access", "https://huggingface.co/acme/gated"]),
        ("acme/gated", "hf_wrong", ["does not accept the token"]),
        ("acme/gone", None, ["not found on the hub or not visible without a token"]),
        ("acme/gone", "hf_granted", ["model acme/gone: not found on the hub. Check"]),
        ("acme/open", None, [f"hub:acme/open@{SHA}"]),
        ("acme/gated", "\ufeffhf_granted\r\n", [f"hub:acme/gated@{SHA}"]),
    ],
)
def test_each_refusal_says_its_own_remedy_and_no_token(
    endpoint: str, model: str, token: str | None, said: list[str], tmp_path: Path
) -> None:
    settings = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), "NO_PROXY": "127.0.0.1"}
    if token:
        settings["HF_TOKEN"] = token
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM, model, str(tmp_path / "cache")],
        cwd=BRIDGE,
        capture_output=True,
        text=True,
        timeout=60,
        env=kept | settings,
    )
    assert all(part in shown.stdout for part in said), shown.stdout + shown.stderr
    assert token is None or token.strip("\ufeff\r\n") not in shown.stdout + shown.stderr

"""A local hub with enough of the HTTP interface to upload and download a folder."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hub(ThreadingHTTPServer):
    """Repositories in memory, and what was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.private: dict[str, bool] = {}
        self.files: dict[tuple[str, str], dict[str, bytes]] = {}  # by name and branch
        self.asked: list[tuple[str, str, str]] = []  # verb, path and token

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers as the hub does."""

    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, found: Any, code: int = 200, **headers: str) -> None:
        content = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(code)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def noted(self) -> list[str]:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        self.server.asked.append((self.command, self.path, token))
        return self.path.split("?")[0].strip("/").split("/")

    def do_POST(self) -> None:
        parts = self.noted()
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else self.chunks()
        if parts == ["api", "validate-yaml"]:
            return self.answer({"errors": [], "warnings": []})
        if parts == ["api", "repos", "create"]:
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}"
            self.server.private[name] = asked.get("visibility") == "private" or asked.get("private") is True
            self.server.files.setdefault((name, "main"), {})
            return self.answer({"url": f"{self.server.url}/{name}"})
        name, what, branch = "/".join(parts[2:4]), parts[4], parts[5]
        if what == "branch":
            self.server.files.setdefault((name, branch), {})
            return self.answer({})
        if what == "preupload":
            paths = [file["path"] for file in json.loads(body)["files"]]
            return self.answer({"files": [{"path": p, "uploadMode": "regular", "shouldIgnore": False} for p in paths]})
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                self.server.files[name, branch][line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        commit = hashlib.sha1(body).hexdigest()
        return self.answer(
            {"commitUrl": f"{self.server.url}/{name}/commit/{commit}", "commitOid": commit, "hookOutput": ""}
        )

    def chunks(self) -> bytes:
        found = b""
        while size := int(self.rfile.readline() or b"0", 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def do_GET(self) -> None:
        parts = self.noted()
        if parts[:2] == ["api", "models"]:
            name, branch = "/".join(parts[2:4]), parts[5].rstrip("0") if len(parts) > 5 else "main"
            files = self.server.files.get((name, branch))
            if files is None:
                return self.answer({"error": "not found"}, 404, X_Error_Code="RepoNotFound")
            if parts[4:5] == ["tree"]:
                return self.answer([{"type": "file", "path": p, "size": len(f), "oid": p} for p, f in files.items()])
            siblings = [{"rfilename": path} for path in files]
            return self.answer({"id": name, "sha": f"{branch:0<40}", "siblings": siblings, "private": True})
        if len(parts) < 5:
            return self.answer({"error": "not found"}, 404)
        name, branch, path = "/".join(parts[:2]), parts[3].rstrip("0"), parts[4]
        if self.server.private[name] and not self.server.asked[-1][2]:
            return self.answer({"error": "not found"}, 401, X_Error_Code="RepoNotFound")
        commit = f"{branch:0<40}"
        content = self.server.files[name, branch].get(path)
        if content is None:
            return self.answer({"error": "not found"}, 404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
        etag = hashlib.sha1(content).hexdigest()
        return self.answer(content, ETag=f'"{etag}"', X_Repo_Commit=commit)

    do_HEAD = do_GET  # noqa: N815 - what the base class calls


@contextmanager
def stand_in() -> Iterator[Hub]:
    """A hub while the block lasts."""
    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()

"""A Hugging Face Hub on the loopback interface, in memory: enough to create, upload, list and load a dataset, or a model.

The endpoints are those that huggingface_hub 1.31 to 2.4 and datasets 4.8 to 5.2 were seen to ask for.  LFS files are
taken by the basic transfer, so clients must be told ``HF_HUB_DISABLE_XET=1``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_dummy"
SMALL = (".md", ".jsonl", ".gitattributes")


@dataclass
class Hub:
    """What the stub holds."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)  # repository -> path -> content
    blobs: dict[str, bytes] = field(default_factory=dict)  # LFS objects by SHA-256
    gated: set[str] = field(default_factory=set)  # repositories whose files need a token
    commits: int = 0
    asked: list[str] = field(default_factory=list)

    def revision(self) -> str:
        return hashlib.sha1(str(self.commits).encode()).hexdigest()

    def commit(self, repository: str, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                self.files[repository][value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                self.files[repository][value["path"]] = self.blobs[value["oid"]]
            elif line["key"] == "deletedFile":
                self.files[repository].pop(value["path"])
        self.commits += 1


class Handler(BaseHTTPRequestHandler):
    """The routes."""

    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self._path()
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._error(401, "Invalid username or password.", "")
        elif path == "/api/repos/create":
            given = json.loads(body)
            name = "/".join(filter(None, (given.get("organization"), given["name"])))
            self.hub.files.setdefault(name, {})
            kind = "" if given.get("type", "model") == "model" else f"{given['type']}s/"
            self._json({"url": f"{self._base()}/{kind}{name}"})
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif match := re.fullmatch(r"/api/(?:datasets|models)/(.+?)/preupload/.+", path):
            self._preupload(match[1], json.loads(body)["files"])
        elif re.fullmatch(r"/(?:datasets/)?.+\.git/info/lfs/objects/batch", path):
            self._json({"transfer": "basic", "objects": [self._upload(o) for o in json.loads(body)["objects"]]})
        elif match := re.fullmatch(r"/api/(?:datasets|models)/(.+?)/commit/.+", path):
            self.hub.commit(match[1], [json.loads(line) for line in body.splitlines()])
            self._json(
                {
                    "commitOid": self.hub.revision(),
                    "commitUrl": f"{self._base()}/datasets/{match[1]}/commit/{self.hub.revision()}",
                    "success": True,
                }
            )
        else:
            self._error(404, f"no route {path}", "")

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.hub.blobs[hashlib.sha256(data).hexdigest()] = data
        self._json({})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self._path()
        if match := re.fullmatch(r"/(?:datasets/)?(.+?)/resolve/([^/]+)/(.+)", path):
            self._resolve(match[1], match[3])
        elif match := re.fullmatch(
            r"/api/(?:datasets|models)/([^/]+/[^/]+)(?:/(revision|tree|refs)(?:/([^/]+))?(?:/(.*))?)?", path
        ):
            self._describe(match[1], match[2] or "revision", match[4] or "")
        else:
            self._error(404, f"no route {path}", "EntryNotFound")

    def _describe(self, repository: str, what: str, folder: str) -> None:
        if repository not in self.hub.files:
            self._error(404, "Repository not found", "RepoNotFound")
            return
        files, sha = self.hub.files[repository], self.hub.revision()
        if what == "refs":
            self._json({"branches": [{"name": "main", "ref": "refs/heads/main", "targetCommit": sha}], "tags": []})
        elif what == "tree":
            found = _tree(files, f"{folder}/" if folder else "", "recursive=true" in self.path.lower())
            self._json(found) if found or not folder else self._error(404, "no such folder", "EntryNotFound")
        else:
            siblings = [{"rfilename": p} for p in sorted(files)]
            self._json({"_id": "0", "id": repository, "sha": sha, "private": False, "gated": False, "disabled": False,
                        "tags": [], "downloads": 0, "likes": 0, "siblings": siblings})  # fmt: skip

    def _resolve(self, repository: str, path: str) -> None:
        data = self.hub.files.get(repository, {}).get(path)
        if repository in self.hub.gated and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._error(401, f"Access to dataset {repository} is restricted.", "GatedRepo")
            return
        if data is None:
            self._error(404, "Entry not found", "EntryNotFound")
            return
        status, headers = (
            200,
            {"X-Repo-Commit": self.hub.revision(), "ETag": f'"{_sha(data)}"', "Accept-Ranges": "bytes"},
        )
        headers["X-Linked-Size"] = str(len(data))
        if match := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            first, last = int(match[1]), min(int(match[2] or len(data) - 1), len(data) - 1)
            headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
            status, data = 206, data[first : last + 1]
        self._send(status, data, {"Content-Type": "application/octet-stream", **headers})

    def _preupload(self, repository: str, files: list[dict[str, Any]]) -> None:
        have = self.hub.files[repository]
        self._json({"files": [
            {"path": f["path"], "uploadMode": "regular" if f["path"].endswith(SMALL) else "lfs", "shouldIgnore": False,
             "oid": _oid(f["path"], have[f["path"]]) if f["path"] in have else None}
            for f in files
        ]})  # fmt: skip

    def _upload(self, item: dict[str, Any]) -> dict[str, Any]:
        href = f"{self._base()}/lfs/{item['oid']}"
        actions = {} if item["oid"] in self.hub.blobs else {"actions": {"upload": {"href": href}}}
        return {"oid": item["oid"], "size": item["size"], **actions}

    def _path(self) -> str:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        return path

    def _base(self) -> str:
        return f"http://{self.headers['Host']}"

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _error(self, status: int, message: str, code: str) -> None:
        self._send(status, json.dumps({"error": message}).encode(), {"X-Error-Code": code, "X-Error-Message": message})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _oid(path: str, data: bytes) -> str:
    """The id that tells a client that its file is there already: git's for small files, SHA-256 for LFS ones."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() if path.endswith(SMALL) else _sha(data)


def _entry(path: str, data: bytes) -> dict[str, Any]:
    lfs = {} if path.endswith(SMALL) else {"lfs": {"oid": _sha(data), "size": len(data), "pointerSize": 130}}
    return {"type": "file", "path": path, "oid": _oid(path, data), "size": len(data), **lfs}


def _tree(files: dict[str, bytes], prefix: str, recursive: bool) -> list[dict[str, Any]]:
    """Files below a folder and the folders among them; without ``recursive`` those directly below it."""
    inside = {p: d for p, d in sorted(files.items()) if p.startswith(prefix)}
    folders = sorted({p.rpartition("/")[0] for p in inside} - {"", prefix.rstrip("/")})
    found = [{"type": "directory", "path": f, "oid": "0", "size": 0} for f in folders]
    found += [_entry(p, d) for p, d in inside.items()]
    return [e for e in found if recursive or "/" not in e["path"].removeprefix(prefix)]


@contextmanager
def serve() -> Iterator[tuple[str, Hub]]:
    """Run a hub until the block ends: its address and what it holds."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"hub": hub}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""A git repository at one commit: a bare git directory or checkout on disk, or a URL.

Files are read from git's objects; nothing is checked out, and no hook, filter or submodule runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from kdata.record import Dropped, Origin, SourceFile
from sources.fetch.licences import LICENCE_NAMES, Licences
from sources.fetch.texts import MAX_FILE, MAX_FILES, MAX_TOTAL, SourceError, dropped, source_file, wanted

CLONE_SECONDS = 900
READ_SECONDS = 300
_URL = re.compile(r"^(https?|ssh|git|file)://|^[\w.-]+@[\w.-]+:")
# What git says of the network and of the server's own troubles: trying again may help.  Its exit status tells nothing.
_PASSING = re.compile(
    r"Could not resolve host|timed out|Connection (refused|reset|was reset)|Failed to connect|Network is unreachable|"
    r"early EOF|RPC failed|hung up unexpectedly|GnuTLS|SSL_read|SSL_ERROR_SYSCALL|"
    r"error: (429|5\d\d)", re.I
)  # fmt: skip
_SAFE = ["-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never",
         "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false"]  # fmt: skip


def collect(spec: str, chosen: Callable[[str], bool] = wanted) -> list[SourceFile | Dropped]:
    """All Python files of ``URL-or-directory`` or ``URL-or-directory@commit``, or those whose path is ``chosen``.

    Raises:
        SourceError: no repository there, no such commit, or no network.
    """
    place, commit = _split(spec)
    if not _URL.match(place):
        return _read(Path(place).expanduser(), commit, place, chosen)
    with tempfile.TemporaryDirectory(prefix="kdata-git-") as folder:
        _fetch(place, commit, Path(folder))
        return _read(Path(folder), "FETCH_HEAD", place, chosen)


def _split(spec: str) -> tuple[str, str]:
    """Place and commit; an ``@`` before a slash or colon belongs to the place."""
    place, at, commit = spec.rpartition("@")
    return (place, commit) if at and "/" not in commit and ":" not in commit else (spec, "HEAD")


def _fetch(url: str, commit: str, folder: Path) -> None:
    if url.startswith("-"):
        raise SourceError(f"git:{url} is not a repository")
    _git(folder, "init", "--quiet", "--bare")
    _git(folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, commit,
         seconds=CLONE_SECONDS)  # fmt: skip


def _read(folder: Path, commit: str, place: str, chosen: Callable[[str], bool]) -> list[SourceFile | Dropped]:
    if not folder.is_dir():
        raise SourceError(f"git:{place}: there is no such folder")
    if commit.startswith("-"):
        raise SourceError(f"git:{place}: {commit} is not a commit")
    revision = _git(folder, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}").decode().strip()
    listing = _git(folder, "ls-tree", "-r", "-l", "-z", revision).decode("utf-8", "surrogateescape")
    entries = [_entry(line) for line in listing.split("\0") if line]
    needed = [e for e in entries if chosen(e[3]) or LICENCE_NAMES.match(e[3].rsplit("/", 1)[-1])]
    files = [e for e in needed if e[0] in ("100644", "100755") and 0 <= e[2] <= MAX_FILE]
    if len(files) > MAX_FILES or sum(e[2] for e in files) > MAX_TOTAL:
        raise SourceError(f"git:{place} holds more than {MAX_FILES} files or {MAX_TOTAL >> 20} MB of source")
    contents = dict(zip((e[3] for e in files), _blobs(folder, [e[1] for e in files]), strict=True))
    return _records(folder, place, revision, [e for e in needed if chosen(e[3])], contents)


def _records(
    folder: Path, place: str, revision: str, needed: list[tuple[str, str, int, str]], contents: dict[str, bytes]
) -> list[SourceFile | Dropped]:
    texts = {p: d.decode("utf-8", "replace") for p, d in contents.items() if LICENCE_NAMES.match(p.rsplit("/", 1)[-1])}
    licences = Licences(texts)
    repository, url = _identity(folder, place)
    out: list[SourceFile | Dropped] = []
    for mode, _, size, path in sorted(needed, key=lambda e: e[3]):
        data = contents.get(path)
        licence = licences.of(path, (data or b"")[:4000].decode("utf-8", "replace"))
        origin = Origin("git", repository, revision, path, licence, url)
        if data is None:
            reason = "file too large" if size > MAX_FILE else "link" if mode == "120000" else "object absent"
            out.append(dropped(origin, reason, f"mode {mode}, {size} bytes"))
        else:
            out.append(source_file(origin, data))
    return out


def _identity(folder: Path, place: str) -> tuple[str, str]:
    """Name and public address: from the remote if it has one, else the name of the place and no address."""
    url = place if _URL.match(place) else ""
    if not url:
        try:
            url = _git(folder, "config", "--get", "remote.origin.url").decode().strip()
        except SourceError:
            url = ""  # a repository that was never cloned has none
    if match := re.search(
        r"[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$", url if _URL.match(url) and "file:" not in url else ""
    ):
        public = re.sub(r"//[^/@]*@", "//", url)  # no user or token in a record
        return f"{match[1]}/{match[2]}", public
    # Of an address the folder is a temporary one, of another name each time.
    parts = re.split(r"[/:]", place.rstrip("/")) if _URL.match(place) else folder.resolve().parts
    named = [p for p in parts if p and p not in ("repo", ".git", "repo.git")]
    return named[-1].removesuffix(".git").replace("+", "/", 1), ""


def _entry(line: str) -> tuple[str, str, int, str]:
    """Mode, object, size and path of a line of ``git ls-tree -l``; size -1 where the object is not there."""
    facts, _, path = line.partition("\t")
    mode, _, name, size = facts.split()
    return mode, name, int(size) if size.isdecimal() else -1, path


def _blobs(folder: Path, names: list[str]) -> list[bytes]:
    """Contents of objects, in order; missing ones (partial clones) are empty."""
    data = _git(folder, "cat-file", "--batch", stdin="".join(f"{n}\n" for n in names).encode())
    out, at = [], 0
    for _ in names:
        end = data.index(b"\n", at)
        header = data[at:end].split()
        size = int(header[2]) if len(header) == 3 and header[1] == b"blob" else -1
        out.append(data[end + 1 : end + 1 + size] if size >= 0 else b"")
        at = end + 1 + (size + 1 if size >= 0 else 0)
    return out


def _git(folder: Path, *arguments: str, stdin: bytes = b"", seconds: int = READ_SECONDS) -> bytes:
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", ""), "LC_ALL": "C",
                   "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_LFS_SKIP_SMUDGE": "1"}  # fmt: skip
    environment |= {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy") or k.startswith("SSL_CERT")}
    command = ["git", *_SAFE, "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, timeout=seconds, check=False, env=environment)
    except FileNotFoundError as error:
        raise SourceError("git is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"git {arguments[0]} took more than {seconds} s", lasting=arguments[0] != "fetch") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        if "not a git repository" in said:
            raise SourceError(f"{folder} is no git repository: run `git init` and commit there, or name its address")
        what = said.splitlines()[-1] if said else "no such repository or commit"
        passing = arguments[0] == "fetch" and _PASSING.search(said)
        raise SourceError(f"git {arguments[0]} failed: {what}", lasting=not passing)
    return done.stdout

"""Sources: folders, git repositories and packages become source files, whatever is in them."""

from __future__ import annotations

import io
import pickle
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from email.parser import HeaderParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from kdata.record import Dropped, SourceFile
from sources.collect import SourceError, collect
from sources.fetch import pypi
from sources.fetch.licences import Licences, of_field, of_header, of_metadata, of_text
from sources.fetch.texts import MAX_FILE
from tests.wheels import wheel

MIT = """MIT License
Permission is hereby granted, free of charge, to any person obtaining a copy of this software ...
The above copyright notice and this permission notice shall be included in all copies."""
BSD = "Redistribution and use in source and binary forms, with or without modification, are permitted ..."


def files(found: list[SourceFile | Dropped]) -> dict[str, SourceFile]:
    return {f.origin.path: f for f in found if isinstance(f, SourceFile)}


def reasons(found: list[SourceFile | Dropped]) -> dict[str, str]:
    return {d.name.split(":", 1)[1]: d.reason for d in found if isinstance(d, Dropped)}


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text(MIT)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_bytes("\ufeffx = 'é'\r\n".encode())
    (tmp_path / "pkg" / "latin.py").write_bytes("# caf\xe9\n".encode("latin-1"))
    (tmp_path / "pkg" / "declared.py").write_bytes("# coding: latin-1\ns = '\xe9'\n".encode("latin-1"))
    (tmp_path / "pkg" / "junk.py").write_bytes(b"\x00\x01\x02")
    (tmp_path / "pkg" / "huge.py").write_bytes(b"x = 1\n" * (MAX_FILE // 6 + 1))
    (tmp_path / "pkg" / "link.py").symlink_to("/etc/passwd")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b.py").write_text("x = 1")
    found = collect(f"local:{tmp_path}")
    kept = files(found)
    assert kept["pkg/a.py"].text == "x = 'é'\n"
    assert kept["pkg/latin.py"].text == "# café\n"
    assert kept["pkg/declared.py"].text.endswith("s = 'é'\n")
    assert set(kept) == {"pkg/a.py", "pkg/latin.py", "pkg/declared.py"}
    assert set(reasons(found)) == {"pkg/junk.py", "pkg/huge.py", "pkg/link.py"}
    assert kept["pkg/a.py"].origin.licenses == ("MIT",)
    assert kept == files(collect(str(tmp_path)))


def test_revision_of_a_folder_follows_its_contents(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    one = files(collect(str(tmp_path)))["a.py"].origin.revision
    assert files(collect(str(tmp_path)))["a.py"].origin.revision == one
    (tmp_path / "a.py").write_text("x = 2\n")
    two = files(collect(str(tmp_path)))["a.py"]
    assert two.origin.revision != one
    (tmp_path / "LICENSE").write_text(MIT)  # as the funnel advises: the same build is to begin anew with it
    three = files(collect(str(tmp_path)))["a.py"]
    assert three.origin.licenses == ("MIT",) and three.id != two.id


@pytest.mark.parametrize(
    "spec", ["local:/no/such/folder", "git:/no/such/folder", "", "pypi:", "pypi:a b", "pypi:x[extra]"]
)
def test_bad_specs_say_so_in_one_line(spec: str) -> None:
    with pytest.raises(SourceError) as error:
        collect(spec)
    assert str(error.value)
    assert "\n" not in str(error.value)


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "nets"
    (folder / "vendored").mkdir(parents=True)
    (folder / "model.py").write_text("x = 1\n")
    (folder / "LICENSE").write_text(MIT)
    (folder / "vendored" / "LICENSE.txt").write_text(BSD)
    (folder / "vendored" / "other.py").write_text("y = 1\n")
    (folder / "away.py").symlink_to("/etc/passwd")
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "one")
    return folder


def test_git_checkout_bare_and_url_at_a_commit(repository: Path, tmp_path: Path) -> None:
    first = git(repository, "rev-parse", "HEAD")
    (repository / "model.py").write_text("x = 2\n")
    git(repository, "commit", "-am", "two")
    second = git(repository, "rev-parse", "HEAD")
    git(tmp_path, "clone", "--bare", str(repository), "bare.git")
    for place in (repository, tmp_path / "bare.git", f"file://{repository}"):
        found = collect(f"git:{place}")
        assert files(found)["model.py"].text == "x = 2\n"
        assert files(found)["model.py"].origin.revision == second
        assert files(found)["model.py"].origin.repository == ("bare" if place == tmp_path / "bare.git" else "nets")
        assert reasons(found) == {"away.py": "link"}
    old = files(collect(f"git:{repository}@{first}"))
    assert old["model.py"].text == "x = 1\n"
    assert old["model.py"].origin.revision == first
    assert old["model.py"].origin.licenses == ("MIT",)
    assert old["vendored/other.py"].origin.licenses == ("BSD-2-Clause",)


def test_git_refuses_what_is_no_commit(repository: Path) -> None:
    for commit in ("deadbeef", "--upload-pack=touch"):
        with pytest.raises(SourceError):
            collect(f"git:{repository}@{commit}")


def test_wheel_is_read_in_memory_and_pinned() -> None:
    metadata = b"Metadata-Version: 2.1\nName: nets\nVersion: 1.2\nLicense-Expression: Apache-2.0\n"
    data = wheel({"nets/a.py": b"x = 1\n", "nets-1.2.dist-info/METADATA": metadata, "../evil.py": b"x", "/abs.py": b"x",
                  "nets/bomb.py": b"\n" * (MAX_FILE + 1), "nets/data.bin": b"\x00"})  # fmt: skip
    found = pypi.read(data, "nets-1.2-py3-none-any.whl")
    kept = files(found)
    assert set(kept) == {"nets/a.py"}
    assert kept["nets/a.py"].origin.revision.startswith("1.2 sha256:")
    assert kept["nets/a.py"].origin.licenses == ("Apache-2.0",)
    assert set(reasons(found).values()) == {"unsafe path", "file too large"}


def test_source_distribution_with_links() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as file:
        for name, data in {
            "nets-1.0/nets/a.py": b"x = 1\n",
            "nets-1.0/PKG-INFO": b"Name: nets\nLicense: MIT\n",
        }.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("nets-1.0/nets/b.py")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(link)
    found = pypi.read(out.getvalue(), "nets-1.0.tar.gz")
    assert files(found)["nets/a.py"].origin.licenses == ("MIT",)
    assert reasons(found) == {"nets/b.py": "link"}


@pytest.mark.parametrize("name", ["nets-1.0.tar.gz", "nets-1.0-py3-none-any.whl", "nonsense.exe"])
def test_damaged_archives_are_one_clear_error(name: str) -> None:
    with pytest.raises(SourceError):
        pypi.read(b"not an archive", name)


def test_licences() -> None:
    classifier = "Classifier: License :: OSI Approved :: Apache Software License\nLicense: whatever\n"
    assert of_metadata(HeaderParser().parsestr(classifier)) == ("Apache-2.0",)
    assert of_metadata(HeaderParser().parsestr("License: BSD 3-Clause License\n")) == ("BSD-3-Clause",)
    assert of_field("Apache License, Version 2.0") == ("Apache-2.0",)
    assert of_field("MIT OR Apache-2.0") == ("Apache-2.0", "MIT")
    assert of_field("see file") == ()
    assert of_text(MIT) == ("MIT",)
    assert of_text(BSD + " Neither the name of the copyright holder ...") == ("BSD-3-Clause",)
    assert of_text("all rights reserved") == ()
    assert of_header("# SPDX-License-Identifier: GPL-3.0-only\n") == ("GPL-3.0-only",)
    nearest = Licences({"LICENSE": MIT, "third/LICENSE": BSD})
    assert nearest.of("third/deep/x.py") == ("BSD-2-Clause",)
    assert nearest.of("x.py") == ("MIT",)


def test_package_from_the_registry() -> None:
    try:
        found = files(collect("pypi:pytorch-msssim==1.0.0"))
    except SourceError as error:
        if "no such package" in str(error) or "could not be fetched" in str(error):
            pytest.skip(f"the package registry is not reachable: {error}")
        raise
    origin = found["pytorch_msssim/ssim.py"].origin
    assert origin.licenses == ("MIT",)
    assert origin.revision.startswith("1.0.0 sha256:")
    assert "class SSIM" in found["pytorch_msssim/ssim.py"].text


class Unavailable(BaseHTTPRequestHandler):
    """A package index and a git host in trouble: 503, save under ``/gone``."""

    def do_GET(self) -> None:
        self.send_error(404 if "gone" in self.path else 503)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that is down, which pip is told to use."""
    with HTTPServer(("127.0.0.1", 0), Unavailable) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        for name, value in {"CONFIG_FILE": "/dev/null", "INDEX_URL": url, "RETRIES": "0", "FIND_LINKS": ""}.items():
            monkeypatch.setenv(f"PIP_{name}", value)
        yield url
        server.shutdown()


def test_errors_say_whether_trying_again_may_help(host: str, tmp_path: Path) -> None:
    git(tmp_path, "init")
    lasting = {
        "pypi:nets": False, "pypi:gone": True, "pypi:a b": True, f"git:{host}/x/y": False, f"git:{host}/gone": True,
        f"git:{tmp_path}": True, "git:http://127.0.0.1:1/x/y": False, str(tmp_path): True,
    }  # fmt: skip
    for spec, expected in lasting.items():
        with pytest.raises(SourceError) as error:
            collect(spec)
        assert error.value.lasting is expected, f"{spec}: {error.value}"
        assert pickle.loads(pickle.dumps(error.value)).lasting is expected

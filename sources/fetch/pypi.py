"""Packages of the Python package index, by name and optional version. Nothing of a package is built or run.

A wheel is fetched with ``pip download``, which only copies it.  A package without one is fetched as a source
distribution with ``unearth`` (pip's own way to a source distribution runs its build for the metadata), from the
indexes that pip is configured for.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import logging
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from email.message import Message
from email.parser import HeaderParser
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from kdata.record import Dropped, Origin, SourceFile
from sources.fetch.archives import Member, members
from sources.fetch.licences import LICENCE_NAMES, Licences, of_metadata
from sources.fetch.texts import SourceError, dropped, source_file, wanted

if TYPE_CHECKING:
    from unearth import PackageFinder

DOWNLOAD_SECONDS = 600
MAX_ARCHIVE = 256 << 20  # bytes
README = "README.md"  # wheels hold its text as their description
DEFAULT_INDEX = "https://pypi.org/simple/"


def collect(name: str) -> list[SourceFile | Dropped]:
    """All Python files of ``package`` or ``package==version``.

    Raises:
        SourceError: no such package or version, no network, or an archive that cannot be read.
    """
    requirement = _requirement(name)
    with tempfile.TemporaryDirectory(prefix="kdata-pypi-") as folder:
        archive = _wheel(requirement, Path(folder)) or _sdist(requirement, Path(folder))
        if archive.stat().st_size > MAX_ARCHIVE:
            raise SourceError(f"{archive.name} is larger than {MAX_ARCHIVE >> 20} MB")
        return read(archive.read_bytes(), archive.name)


def collect_any(name: str) -> list[SourceFile | Dropped]:
    """The same of an archive for whatever Python and system: what is read there, and not run, is as good.

    The newest version may be built for another Python, and compiled code may make a wheel too large.

    Raises:
        SourceError: see ``collect``.
    """
    filename, data = archive(_requirement(name), MAX_ARCHIVE)
    return read(data, filename)


def _requirement(name: str) -> Requirement:
    try:
        requirement = Requirement(name)
    except InvalidRequirement as error:
        raise SourceError(f"pypi:{name} is not a package name: {error}".splitlines()[0]) from error
    if requirement.url or requirement.extras or requirement.marker:
        raise SourceError(f"pypi:{name} is more than a package name and version")
    return requirement


def read(data: bytes, filename: str, chosen: Callable[[str], bool] = wanted) -> list[SourceFile | Dropped]:
    """The ``chosen`` files of a wheel or source distribution, with version, hash and licences in their origins.

    Raises:
        SourceError: the name is none of an archive, or it cannot be read.
    """
    package, version = identity(filename)
    found = members(data, filename, chosen)
    metadata = _metadata(found)
    description = metadata.get_payload()
    if isinstance(description, str) and description.strip() and not any(m.path == README for m in found):
        found.append(Member(README, description.encode("utf-8", "replace")))
    texts = {m.path: m.data.decode("utf-8", "replace") for m in found if LICENCE_NAMES.match(m.path.split("/")[-1])}
    texts = {re.sub(r"^[^/]+\.dist-info/(licenses/)?", "", path): text for path, text in texts.items()}
    licences = Licences(texts, of_metadata(metadata))
    revision = f"{version} sha256:{hashlib.sha256(data).hexdigest()}"
    url = f"https://pypi.org/project/{package}/{version}/"
    out: list[SourceFile | Dropped] = []
    for member in sorted(found, key=lambda m: m.path):
        if not chosen(member.path):
            continue
        text = member.data.decode("utf-8", "replace")
        origin = Origin("pypi", package, revision, member.path, licences.of(member.path, text), url)
        out.append(dropped(origin, member.problem) if member.problem else source_file(origin, member.data))
    return out


def identity(filename: str) -> tuple[str, str]:
    """Name and version of the package that an archive is of.

    Raises:
        SourceError: the name is none of an archive.
    """
    try:
        if filename.endswith(".whl"):
            name, version, _, _ = parse_wheel_filename(filename)
        else:
            name, version = parse_sdist_filename(filename)
    except (InvalidWheelFilename, InvalidSdistFilename) as error:
        raise SourceError(f"{filename} is not the name of a package's archive") from error
    return name, str(version)


def _metadata(found: list[Member]) -> Message:
    candidates = [m for m in found if m.path.endswith(".dist-info/METADATA") or m.path == "PKG-INFO"]
    text = candidates[0].data.decode("utf-8", "replace") if candidates else ""
    return HeaderParser().parsestr(text)


def _wheel(requirement: Requirement, folder: Path) -> Path | None:
    """The package's wheel, or None if pip finds none for this Python.

    Raises:
        SourceError: pip cannot be run, or takes too long.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet",
               "--disable-pip-version-check", "--dest", str(folder), str(requirement)]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"pypi:{requirement} did not arrive within {DOWNLOAD_SECONDS} s", lasting=False) from error
    if "No module named pip" in done.stderr:
        raise SourceError("pip is not installed beside this Python; packages cannot be fetched")
    return next(folder.glob("*.whl"), None)


def _sdist(requirement: Requirement, folder: Path) -> Path:
    finder = _finder(no_binary=[requirement.name])
    with _told(requirement):
        match = finder.find_best_match(requirement).best
        if match is None or match.link.is_wheel:
            raise _absent(finder, requirement)
        response = finder.session.get(match.link.normalized)
        response.raise_for_status()
    path = folder / match.link.filename
    path.write_bytes(response.content)
    return path


def archive(requirement: Requirement, most: int) -> tuple[str, bytes]:
    """Name and bytes of a package's archive of at most so many bytes, whatever Python and system it is for.

    Of the best version that is a pure wheel, else a source distribution, else some wheel: its Python files are read.

    Raises:
        SourceError: no such package or version, no network, or a larger archive.
    """
    finder = _finder(ignore_compatibility=True)
    with _told(requirement):
        finals = finder.find_matches(requirement, allow_prereleases=False)
        found = list(finals) or list(finder.find_matches(requirement))
        if not found:
            raise _absent(finder, requirement)
        links = [p.link for p in found if p.version == found[0].version]
        link = min(links, key=lambda x: (x.is_wheel and not x.filename.endswith("-none-any.whl"), not x.is_wheel,
                                         x.filename))  # fmt: skip
        data = bytearray()
        with finder.session.get_stream(link.normalized) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > most:
                    raise SourceError(f"{link.filename} is larger than {most >> 20} MB")
    stated = (link.hash_option or {}).get("sha256", ())
    if stated and hashlib.sha256(data).hexdigest() not in stated:
        raise SourceError(f"{link.filename} is not what the package index says it is")
    return link.filename, bytes(data)


def _finder(**options: Any) -> PackageFinder:
    from unearth import PackageFinder

    logging.getLogger("unearth").setLevel(logging.ERROR)  # its warnings are what our errors say
    settings = _pip_settings()
    return PackageFinder(
        index_urls=[settings.get("index-url", [DEFAULT_INDEX])[0], *settings.get("extra-index-url", [])],
        find_links=settings.get("find-links", []),
        trusted_hosts=settings.get("trusted-host", []),
        **options,
    )


@contextlib.contextmanager
def _told(requirement: Requirement) -> Iterator[None]:
    """What goes wrong while a package is fetched, as a ``SourceError``."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:  # the HTTP library's own errors share no base with the built-in ones
        said = f"pypi:{requirement} could not be fetched: {type(error).__name__}"  # its text may hold a password
        raise SourceError(said, lasting=isinstance(error, ValueError)) from error


def _absent(finder: PackageFinder, requirement: Requirement) -> SourceError:
    """No index lists the package or version; or one of them did not answer, which unearth passes over in silence."""
    for source in finder.sources:
        if source["type"] != "index" or not source["url"].startswith("http"):
            continue
        answer = finder.session.get(f"{source['url'].rstrip('/')}/{canonicalize_name(requirement.name)}/")
        if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS or answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            said = f"pypi:{requirement}: the package index answers with status {answer.status_code}"
            return SourceError(said, lasting=False)
    return SourceError(f"pypi:{requirement}: there is no such package or version")


def _pip_settings() -> dict[str, list[str]]:
    """Where pip is configured to find packages: its files and environment, later ones over earlier."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, timeout=60, check=False
    )
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition("=")
        name = key.rsplit(".", 1)[-1]
        if name in ("index-url", "extra-index-url", "find-links", "trusted-host"):
            found[name] = str(ast.literal_eval(value)).split()
    return found

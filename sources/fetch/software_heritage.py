"""Contents of files from the Software Heritage archive, by the id that The Stack v2 calls ``blob_id``.

The archive keeps them gzipped in a public bucket of Amazon S3, under the hash of their bytes
(https://docs.softwareheritage.org/devel/swh-export/graph/dataset.html).  Credentials are those that boto3 finds; where
it finds none the requests are anonymous.  ``AWS_ENDPOINT_URL_S3`` points elsewhere.  Downloading in bulk needs an
agreement with Software Heritage: see ``sources.fetch.stack``.

Every content is checked against its id and then kept in a folder, so that nothing is fetched twice, whatever ends the
process in between.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any

import tenacity

from kdata.cache import cache_folder, put
from sources.fetch.texts import MAX_FILE, SourceError

BUCKET, FOLDER = "softwareheritage", "content"
WORKERS = 32  # requests at once: S3 takes thousands, and each waits for the network
ATTEMPTS, PAUSE, LONGEST_PAUSE = 6, 0.5, 20.0  # tries, first and longest pause in seconds
TIMEOUT = 30  # seconds to connect, and between two arrivals of data
DENIED_AT_ONCE = 20  # refusals without a success, after which we stop asking
UNREACHABLE = 0.01  # the part of all contents that may stay out of reach without failing the source
ABSENT, DENIED, DAMAGED, TOO_LARGE, NO_ID, AWAY = (
    "absent from the archive", "denied by the archive", "damaged in the archive", "file too large", "no blob id",
    "archive unreachable",
)  # fmt: skip
_ID = re.compile(r"[0-9a-f]{40}")


class PassingError(Exception):
    """The archive did not answer, or not whole: trying again may help."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A content that the archive does not give, and why."""

    reason: str
    detail: str = ""


Answer = bytes | Refused


def matches(data: bytes, blob_id: str) -> bool:
    """Whether bytes are what an id names: their SHA-1, which the archive's keys are, or git's SHA-1 of a blob."""
    git = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    git.update(data)
    return blob_id in (hashlib.sha1(data, usedforsecurity=False).hexdigest(), git.hexdigest())


@dataclass
class Archive:
    """A client of the archive with its cache."""

    cache: Path = field(default_factory=lambda: cache_folder("softwareheritage"))
    workers: int = WORKERS

    def contents(self, ids: Iterable[str], progress: Callable[[int, int], None] | None = None) -> dict[str, Answer]:
        """The bytes of each content, or why there are none.

        ``progress`` is called with how many are done and how many there are.

        Raises:
            SourceError: no access at all, or more than one in a hundred could not be reached; what came is kept.
        """
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Answer] = {}
        self._client  # noqa: B018 - made here once: boto3 cannot make it in many threads at a time
        with ThreadPoolExecutor(self.workers, "archive") as threads:
            futures = {threads.submit(self._content, blob_id): blob_id for blob_id in wanted}
            try:
                for future in as_completed(futures):
                    found[futures[future]] = future.result()
                    _check_access(found)
                    if progress:
                        progress(len(found), len(wanted))
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        away = sum(isinstance(a, Refused) and a.reason == AWAY for a in found.values())
        if away > max(1, UNREACHABLE * len(wanted)):
            said = f"the archive did not answer for {away} of {len(wanted)} contents; the others are kept for next time"
            raise SourceError(said, lasting=False)
        return {blob_id: found[blob_id] for blob_id in wanted}

    def _content(self, blob_id: str) -> Answer:
        if not _ID.fullmatch(blob_id):
            return Refused(NO_ID, blob_id[:60])
        place = self.cache / blob_id[:2] / blob_id
        with contextlib.suppress(OSError, PassingError):  # a broken file of the cache is fetched anew
            return _unpacked(place.read_bytes(), blob_id)
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(PassingError), stop=tenacity.stop_after_attempt(ATTEMPTS),
            wait=tenacity.wait_exponential_jitter(PAUSE, LONGEST_PAUSE), reraise=True,
        )  # fmt: skip
        try:
            return retrying(self._fetch, blob_id, place)
        except PassingError as error:
            return Refused(DAMAGED if isinstance(error.__cause__, ValueError) else AWAY, str(error))

    def _fetch(self, blob_id: str, place: Path) -> Answer:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = self._client.get_object(Bucket=BUCKET, Key=f"{FOLDER}/{blob_id}")
            if answer["ContentLength"] > MAX_FILE:
                return Refused(TOO_LARGE, f"{answer['ContentLength']} bytes compressed")
            packed = answer["Body"].read()
        except ClientError as error:
            return self._refused(error)
        except (BotoCoreError, OSError) as error:  # no connection, a cut one, or too few bytes
            raise PassingError(type(error).__name__) from error
        data = _unpacked(packed, blob_id)
        put(place, packed)
        return data

    @staticmethod
    def _refused(error: Any) -> Refused:
        status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in ("NoSuchKey", "404", "NotFound") or status == HTTPStatus.NOT_FOUND:
            return Refused(ABSENT)
        if status in (HTTPStatus.FORBIDDEN, HTTPStatus.UNAUTHORIZED):
            return Refused(DENIED, code)
        if status == HTTPStatus.BAD_REQUEST and code not in ("RequestTimeout", "RequestTimeTooSkewed"):
            raise SourceError(f"the Software Heritage bucket refuses the request: {code}")
        raise PassingError(f"{status} {code}") from error

    @cached_property
    def _client(self) -> Any:
        try:
            import boto3
            from botocore import UNSIGNED
            from botocore.config import Config
        except ImportError as error:
            raise SourceError("The Stack v2 needs the extra [stack]: pip install -e '.[stack]'") from error
        session = boto3.Session()
        config = Config(
            region_name=session.region_name or "us-east-1", max_pool_connections=self.workers,
            connect_timeout=TIMEOUT, read_timeout=TIMEOUT, retries={"total_max_attempts": 1},  # tenacity tries again
            signature_version=None if session.get_credentials() else UNSIGNED,
        )  # fmt: skip
        return session.client("s3", config=config)


def _check_access(found: Mapping[str, Answer]) -> None:
    denied = sum(isinstance(a, Refused) and a.reason == DENIED for a in found.values())
    if denied == len(found) >= DENIED_AT_ONCE:
        raise SourceError(
            "the Software Heritage bucket denies access: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and see the "
            "terms for bulk downloads at https://huggingface.co/datasets/bigcode/the-stack-v2"
        )


def _unpacked(packed: bytes, blob_id: str) -> Answer:
    """The content of what the archive keeps.

    Raises:
        PassingError: it is damaged.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            data = file.read(MAX_FILE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise PassingError("no gzip") from ValueError(str(error))
    if len(data) > MAX_FILE:
        return Refused(TOO_LARGE)
    if not matches(data, blob_id):
        raise PassingError("other content than its id names") from ValueError(blob_id)
    return data

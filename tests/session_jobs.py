"""Jobs for tests/test_session.py, honest and hostile; run in the sandbox only."""

import os
import time
from pathlib import Path

from kdata.sandbox.session import ANSWERED, Peer


def double(payload, scratch):
    peer = Peer(scratch)
    while (question := peer.question()) is not None:
        peer.answer({"double": 2 * question["number"]})


def leave(payload, scratch):
    Peer(scratch).question()
    os._exit(0)


def hang(payload, scratch):
    Peer(scratch).question()
    time.sleep(60)


def flood(payload, scratch):
    Peer(scratch).question()
    with (scratch / ANSWERED).open("wb") as pipe:
        pipe.write(b"x" * (4 << 20))


def babble(payload, scratch):
    Peer(scratch).question()
    (scratch / ANSWERED).write_bytes(b"all is well\n")
    time.sleep(1)


def listing(payload, scratch):
    Peer(scratch).question()
    (scratch / ANSWERED).write_bytes(b"[1]\n")
    time.sleep(1)


def write(payload, scratch):
    peer = Peer(scratch)
    while (question := peer.question()) is not None:
        path = Path(scratch / question["name"])
        if "to" in question:
            path.symlink_to(question["to"])
        else:
            path.write_text("content")
        peer.answer({})


def processes(payload, scratch):
    peer = Peer(scratch)
    peer.question()
    peer.answer({"processes": [p for p in os.listdir("/proc") if p.isdigit()]})
    peer.question()

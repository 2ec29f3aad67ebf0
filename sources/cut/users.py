"""Cuts of what uses a class, to be run where its arguments and inputs cannot be guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sources.cut.slicer import SliceError, Slicer
from sources.cut.writer import Cut, cut
from sources.hints.hints import Hints
from sources.hints.makers import as_class
from sources.text.targets import Here

MAX_USER = 80_000  # characters of a text that is run to see a class at work
MAX_PIECES = 150  # definitions of one: more are more characters, and a script may need most of a package beside it


class Users:
    """Users of the classes of one package; who needs a class anyway is cut once for all classes that it needs.

    A script that trains any of thirty networks uses all of them: it would be cut thirty times.
    """

    def __init__(self, slicer: Slicer, hints: Hints) -> None:
        self._slicer, self._hints = slicer, hints
        self._plain: dict[Here, Cut | None] = {}

    def of(self, key: Here) -> list[dict[str, Any]]:
        """Their texts, what they are called there, and what the class is that is ``wanted`` of them.

        And of those that need arguments the usual ``defaults``.
        """
        found = list[dict[str, Any]]()
        for user in self._hints.users(key):
            made = self._cut(user, key)
            if made is not None:
                found.append({"source": made.source, "name": made.name, "wanted": made.names[key]})
                if self._hints.makes(user):
                    found[-1]["defaults"] = self._hints.defaults(re.findall(r"[^\W\d]\w*", made.source), user.name)
        return found

    def _cut(self, user: Here, key: Here) -> Cut | None:
        """The cut of a user that holds a class; None where there is none, or too large a one."""
        if user not in self._plain:
            self._plain[user] = self._fitting(user)
        plain = self._plain[user]
        return plain if plain is None or key in plain.names else self._fitting(user, [key])

    def _fitting(self, user: Here, more: Iterable[Here] = ()) -> Cut | None:
        try:
            made = cut(self._slicer, user.file, user.name, more, most=MAX_PIECES)
        except SliceError:
            return None
        if self._hints.makes(user):
            source, name = as_class(made.source, made.name)
            made = replace(made, source=source, name=name)
        return made if len(made.source) <= MAX_USER and made.name else None

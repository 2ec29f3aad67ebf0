"""SPDX licence identifiers from package metadata and from licence texts.

Identifiers are those of https://spdx.org/licenses.  What cannot be told is left out, and a source without any licence
is for the licence filter to judge.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from email.message import Message

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

LICENCE_NAMES = re.compile(r"^(licen[cs]e|copying|unlicense)([-_.].*)?$", re.IGNORECASE)
MAX_LICENCE = 200_000  # characters of a licence text that are read
_CLASSIFIERS = {
    "MIT License": "MIT",
    "MIT No Attribution License (MIT-0)": "MIT-0",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "The Unlicense (Unlicense)": "Unlicense",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "GNU General Public License v3 (GPLv3)": "GPL-3.0-only",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU General Public License v2 (GPLv2)": "GPL-2.0-only",
    "GNU Affero General Public License v3": "AGPL-3.0-only",
    "GNU Affero General Public License v3 or later (AGPLv3+)": "AGPL-3.0-or-later",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
}
# What people write into the free field, lower case and without "the", "license", "version", blanks and punctuation.
_FREE = {
    "mit": "MIT", "expat": "MIT", "apache": "Apache-2.0", "apache2": "Apache-2.0", "apache20": "Apache-2.0",
    "apachesoftware": "Apache-2.0", "asl20": "Apache-2.0", "apachesoftware20": "Apache-2.0",
    "bsd3clause": "BSD-3-Clause",
    "bsd3": "BSD-3-Clause", "3clausebsd": "BSD-3-Clause", "newbsd": "BSD-3-Clause", "modifiedbsd": "BSD-3-Clause",
    "bsd2clause": "BSD-2-Clause", "2clausebsd": "BSD-2-Clause", "isc": "ISC", "unlicense": "Unlicense",
    "mpl20": "MPL-2.0", "gplv3": "GPL-3.0-only", "gpl3": "GPL-3.0-only", "gpl30": "GPL-3.0-only",
    "agplv3": "AGPL-3.0-only", "agpl30": "AGPL-3.0-only", "lgplv3": "LGPL-3.0-only", "ccbync40": "CC-BY-NC-4.0",
}  # fmt: skip
# Phrases that only one licence has; the first that fits counts.
_TEXTS: list[tuple[str, str]] = [
    ("AGPL-3.0-only", r"gnu affero general public license\s+version 3"),
    ("LGPL-3.0-only", r"gnu lesser general public license\s+version 3"),
    ("LGPL-2.1-only", r"gnu lesser general public license\s+version 2\.1"),
    ("GPL-3.0-only", r"gnu general public license\s+version 3"),
    ("GPL-2.0-only", r"gnu general public license\s+version 2"),
    ("CC-BY-NC-4.0", r"attribution-noncommercial 4\.0 international"),
    ("CC-BY-NC-SA-4.0", r"attribution-noncommercial-sharealike 4\.0"),
    ("LicenseRef-NonCommercial", r"non-?commercial (use|purposes|research)"),
    ("Apache-2.0", r"apache license,?\s+version 2\.0"),
    ("MPL-2.0", r"mozilla public license,? (version|v\.) ?2\.0"),
    ("BSD-3-Clause", r"redistribution and use in source and binary forms.*neither the names?\b"),
    ("BSD-2-Clause", r"redistribution and use in source and binary forms"),
    ("MIT", r"permission is hereby granted, free of charge, to any person obtaining a copy.*"
            r"the above copyright notice and this permission notice"),
    ("MIT-0", r"permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("ISC", r"permission to use, copy, modify, and(/or)? distribute this software for any purpose with or without fee"),
    ("Unlicense", r"this is free and unencumbered software released into the public domain"),
    ("CC0-1.0", r"cc0 1\.0 universal"),
    ("CC-BY-4.0", r"attribution 4\.0 international"),
    ("CC-BY-SA-4.0", r"attribution-sharealike 4\.0 international"),
]  # fmt: skip


def of_metadata(metadata: Message) -> tuple[str, ...]:
    """Identifiers that a package's core metadata declares: expression, else classifiers, else the free field."""
    if expression := metadata.get("License-Expression"):
        try:
            return identifiers(canonicalize_license_expression(expression))
        except InvalidLicenseExpression:
            return ()
    classifiers = [c.split(" :: ")[-1] for c in metadata.get_all("Classifier", []) if c.startswith("License ::")]
    if known := tuple(sorted({_CLASSIFIERS[c] for c in classifiers if c in _CLASSIFIERS})):
        return known
    free = metadata.get("License") or ""
    return of_text(free) if len(free) > 200 else of_field(free)


def of_field(text: str) -> tuple[str, ...]:
    """The identifier for a licence's name as people write it, such as "Apache License, Version 2.0"."""
    try:
        return identifiers(canonicalize_license_expression(text.strip()))
    except InvalidLicenseExpression:
        key = re.sub(r"\b(the|licen[cs]ed?|version|v(?=\d)|under)\b|[^a-z0-9]", "", text.lower())
        return (_FREE[key],) if key in _FREE else ()


def of_text(text: str) -> tuple[str, ...]:
    """The identifier of a licence text, () if it is none that we know."""
    flat = re.sub(r"\s+", " ", text[:MAX_LICENCE].lower())
    return next(((name,) for name, pattern in _TEXTS if re.search(pattern, flat)), ())


def of_header(text: str) -> tuple[str, ...]:
    """Identifiers of an ``SPDX-License-Identifier`` line at the top of a source file."""
    match = re.search(r"SPDX-License-Identifier:\s*([\w.+\-() ]+)", text[:4000])
    return of_field(match[1].strip()) if match else ()


def identifiers(expression: str) -> tuple[str, ...]:
    """The identifiers of an SPDX expression, operators and exceptions left out."""
    plain = re.sub(r"\bWITH\s+\S+|\b(AND|OR)\b|[()]", " ", expression)
    return tuple(sorted(set(plain.split())))


class Licences:
    """The licences of a repository's files: a file's own header, else the nearest licence text above it."""

    def __init__(self, texts: Mapping[str, str], declared: tuple[str, ...] = ()) -> None:
        """``texts`` are licence texts by path; ``declared`` is what the metadata says of the whole."""
        found: dict[str, set[str]] = {}
        for path, text in texts.items():
            found.setdefault(posixpath.dirname(path), set()).update(of_text(text))
        self._by_folder = {folder: tuple(sorted(names)) for folder, names in found.items() if names}
        self._declared = declared

    def of(self, path: str, text: str = "") -> tuple[str, ...]:
        """Identifiers that hold for one file; () if nothing says."""
        if header := of_header(text):
            return header
        folder = posixpath.dirname(path)
        while folder not in ("", "/"):
            if folder in self._by_folder:
                return self._by_folder[folder]
            folder = posixpath.dirname(folder)
        return self._declared or self._by_folder.get("", ())

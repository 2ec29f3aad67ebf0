"""What a name may mean: a definition of the package, a module of it, something to import, or nothing that there is."""

from __future__ import annotations

import typing
from dataclasses import dataclass

from sources.text.bindings import Imported
from sources.text.importable import ALLOWED, GROWN, LATE, STANDARD, SUBMODULES, UNUSABLE, lacks


@dataclass(frozen=True, slots=True)
class Here:
    """Defined at the top level of a file of the package."""

    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Inner:
    """A module of the package itself: a file, or a folder without ``__init__.py``."""

    file: str


@dataclass(frozen=True, slots=True)
class External:
    """A module that a task may import, or a name in one."""

    module: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that is neither here nor importable."""

    name: str
    package: str = ""  # the top-level module that it is imported from, if that is a third party's


Target = Here | Inner | External | Missing
# What everybody means by names that a file forgot to import.
USUAL: dict[str, Target] = {
    "torch": External("torch"), "nn": External("torch.nn"), "F": External("torch.nn.functional"),
    "np": External("numpy"), "math": External("math"), "functools": External("functools"), "copy": External("copy"),
    "partial": External("functools", "partial"), "OrderedDict": External("collections", "OrderedDict"),
    "Tensor": External("torch", "Tensor"), "Variable": External("torch.autograd", "Variable"),
}  # fmt: skip


def canonical(target: External) -> External:
    """One spelling for a module that is also an attribute of another."""
    whole = f"{target.module}.{target.name}"
    return External(whole) if whole in SUBMODULES else target


def external(how: Imported) -> Target:
    """What an import of a module outside of the package means."""
    module, name = how.module, how.name
    if module == "typing" and name in LATE:
        module = "typing_extensions"
    elif module == "typing_extensions" and hasattr(typing, name) and name not in LATE | GROWN:
        module = "typing"
    if module.split(".")[0] not in ALLOWED or how.level or module.startswith(UNUSABLE):
        package = "" if how.level or module.split(".")[0] in ALLOWED | STANDARD else module.split(".")[0]
        return Missing(f"{module}.{name}" if name else module, package)
    if name and lacks(module, name):
        return Missing(f"{module}.{name}")
    return canonical(External(module, name)) if name else External(module)

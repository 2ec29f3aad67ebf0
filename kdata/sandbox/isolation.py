"""The isolation that a user requires: guards without which no job of this process runs its code.

A job tells its guards before its own code runs; where one of the required is not among them, the job ends there, see
``kdata.sandbox.zygote``, and its caller hears an ``IsolationError``, which is a verdict on the machine and on nothing
else.  What each guard is: ``kdata.sandbox.guard``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

FULL = "full"
# The guards by their names in receipts, and what a machine needs to give them.
GUARDS: Mapping[str, str] = {
    "namespaces": "run as root or allow unprivileged user namespaces (sysctl user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns); in a container also let its "
    "seccomp profile pass unshare",
    "landlock": "use Linux 5.13 or newer with landlock in /sys/kernel/security/lsm; in a container also let its "
    "seccomp profile pass the landlock calls",
    "no capabilities": "use Linux",
    "seccomp": "use Linux with CONFIG_SECCOMP_FILTER on x86-64 or aarch64",
    "rlimits": "use Linux",
}
HELP = (
    "Run no code unless these guards hold: names joined by +, as receipts write them (namespaces+landlock+seccomp), "
    "or full for all. Default: whatever the machine gives."
)

_required: tuple[str, ...] = ()


class IsolationError(Exception):
    """A required guard does not hold here; the job's code was not run."""


def parse(text: str | None) -> tuple[str, ...]:
    """The guards that a text such as ``namespaces+landlock`` names, as receipts order them; () for None.

    Raises:
        ValueError: it names none, or one that is not known.
    """
    if text is None:
        return ()
    named = {" ".join(part.lower().replace("-", " ").split()) for part in text.split("+")}
    if unknown := sorted(named - GUARDS.keys() - {FULL}):
        known = f"the guards are {', '.join(GUARDS)}, and {FULL} for all"
        raise ValueError(f"unknown guard {', '.join(map(repr, unknown))} in the isolation required: {known}")
    return tuple(guard for guard in GUARDS if guard in named or FULL in named)


def require(guards: tuple[str, ...]) -> None:
    """Have all further jobs of this process run behind these guards or not at all; () for whatever there is."""
    global _required  # one requirement a process, as there is one pool of workers
    _required = guards


def required() -> tuple[str, ...]:
    """What ``require`` was last told."""
    return _required


def check(wanted: Collection[str], held: Collection[str]) -> None:
    """Compare what a job was to have with what it told.

    Raises:
        IsolationError: a guard is missing; the message says what would give it.
    """
    missing = [guard for guard in wanted if guard not in held]
    if missing:
        remedies = "; ".join(f"for {guard}: {GUARDS[guard]}" for guard in missing)
        raise IsolationError(
            f"the isolation required is not to be had here, so no code was run: {', '.join(missing)} missing, "
            f"{', '.join(held)} there ({remedies})"
        )


def probe(payload: None, scratch: object) -> None:
    """A job of our own that does nothing: what it is asked for is its guards."""

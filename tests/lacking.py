"""Run a command on a system that lacks guards: ``python lacking.py landlock,namespaces kdata verify ...``.

The kernel itself refuses the system call that each of them needs, to the command and to all that it starts.
"""

import os
import platform
import sys

from kdata.sandbox import guard, landlock, seccomp

UNSHARE = {"x86_64": 272, "aarch64": 97}
CALLS = {"landlock": landlock.CREATE_RULESET, "namespaces": UNSHARE[platform.machine()]}


def refuse(names):
    code = [seccomp._step(seccomp.LOAD, seccomp.NUMBER)]
    for name in names:
        code += [seccomp._step(seccomp.EQUAL, CALLS[name], 0, 1), seccomp._step(seccomp.RETURN, seccomp.ERRNO | 38)]
    code.append(seccomp._step(seccomp.RETURN, seccomp.ALLOW))
    seccomp.program = lambda devices: b"".join(code)
    guard.LIBC.prctl(guard.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return seccomp.restrict(guard.LIBC, False)


if __name__ == "__main__":
    if not refuse(sys.argv[1].split(",")):
        sys.exit("this system has no seccomp")
    os.execvp(sys.argv[2], sys.argv[2:])

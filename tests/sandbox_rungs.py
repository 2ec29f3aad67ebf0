"""Systems that lack a guard, as a worker's preloaded functions: each takes away what such a system would not give."""

from kdata.sandbox import guard, landlock, seccomp


def without_namespaces():
    guard._unshare = lambda kinds: False


def without_landlock():
    landlock.restrict = lambda libc, scratch, devices=(): False


def without_seccomp():
    seccomp.restrict = lambda libc, devices: False


def with_landlock_only():
    without_namespaces()
    without_seccomp()


def with_namespaces_only():
    without_landlock()
    without_seccomp()


def bare():
    with_landlock_only()
    without_landlock()

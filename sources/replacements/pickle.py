"""A module that keeps a pickled copy of its settings keeps none in a task; what reads one finds no function for it."""


def dumps(obj, protocol=None, *, fix_imports=True, buffer_callback=None):
    return b""

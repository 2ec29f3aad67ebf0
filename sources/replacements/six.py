"""The part of six that modules use, on Python 3."""

string_types = (str,)
integer_types = (int,)
text_type = str
xrange = range


def iteritems(mapping):
    return iter(mapping.items())


def itervalues(mapping):
    return iter(mapping.values())


def iterkeys(mapping):
    return iter(mapping)

"""DGL's helpers of its layers: a pair is what edges come from, and what they lead to."""


def expand_as_pair(input_, g=None):
    if isinstance(input_, tuple):
        return input_
    return input_, input_[: g.number_of_dst_nodes()] if g is not None and g.is_block else input_

"""Graphs as inputs: objects with features of nodes and edges, along which messages are sent, as DGL's are.

A task is given the graph's tensors and makes the graph of them. Each node has as many neighbours as any other: then
every size follows from the tensors, and nothing is computed that depends on what is drawn.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch import nn

from sources.infer.graph_object import EDGES, KIND, NODES
from sources.infer.inputs import FEATURES, Many, Spec, Tensor, positional

ROWS, NEIGHBOURS = 24, 6  # nodes, which are as many as nothing else usually is, and neighbours of each
_SURE = r"(?:(?:nd|ed|srcd|dstd)ata\b|(?:update_all|apply_edges|apply_nodes|send_and_recv|local_var|local_scope)\()"
# What a graph has and no tensor: of what failed as a tensor that is sure, and of others ``_SURE`` alone is.
OWN = re.compile(
    r"ndata|edata|srcdata|dstdata|update_all|apply_edges|apply_nodes|send_and_recv|local_var|local_scope|edges|all_edges"
    r"|nodes|number_of_(nodes|edges)|num_(nodes|edges)|in_degrees|out_degrees|batch_num_nodes|adjacency_matrix"
)
_CALLED = re.compile(r"(?i)(b|h|dgl_?|batch(ed)?_?)?g(raphs?)?")
_WIDTHS = (
    re.compile(r"(?i)node|^in(put)?_(?!edge)|^nf$|^(n_?)?in$|^in_?(dim|feats?|features|channels)$"),
    re.compile(r"(?i)edge"),
)
_COUNTS = re.compile(r"(?i)n(um(ber)?)?_?(of_)?(nodes|edges|layers)")
_EDGE_LIST = Tensor((2, ROWS * NEIGHBOURS), "int", ROWS)
_LISTED = re.compile(r"(?i)edge_?ind(ex|ices)?s?|edges|edge_?list|adj_t")
_OF_EDGES = re.compile(r"(?i)(^|_)e(_|$)|^ef|edge|pseudo|(^|_|[a-z])ij(_|$)")
# One end of each edge, beside another input that is the other end.
_ENDS = re.compile(
    r"(?i)_*(idx|ind|index)_?(i|j|src|dst|from|to)|senders|receivers|(src|dst|source|target)_?(idx|index)"
)
_END = Tensor((ROWS * NEIGHBOURS,), "int", ROWS)
_IN_SPACE = re.compile(r"_*((r|d|dir|vec)_?ij|pos(itions)?|coord(inate)?s?|xyz|edge_?vec(tor)?s?)", re.I)
_WEIGHTS = re.compile(r"(?i)edge_?weights?|edge_norms?")  # a positive number of each edge


def graph(names: Sequence[str] = (), items: Sequence[Spec] = ()) -> Many:
    """A graph with these ``items`` as features, each named by its side and field: ``ndata.h``."""
    return Many((Tensor((ROWS, NEIGHBOURS), "int", ROWS), *items), KIND, ("neighbours", *names))


def graphs(module: nn.Module, name: str, text: str) -> list[Spec]:
    """A graph, where the text uses an input as one, or the program uses some and this is called so."""
    body = text.partition(":\n")[2]
    if re.search(rf"\b{re.escape(name)}\.{_SURE}", body):
        return [graph()]
    file = getattr(getattr(type(module).forward, "__code__", None), "co_filename", "")
    whole = "".join(linecache.getlines(file)) if file and _CALLED.fullmatch(name) else ""
    return [graph()] if re.search(rf"\.{_SURE}", whole) else []


def edge_list(name: str, text: str) -> list[Spec]:
    """The two ends of each edge, where an input is called so, or its two rows are."""
    ends = rf"\b(?:row, ?col|col, ?row|src, ?dst|dst, ?src|senders, ?receivers|source, ?target) = {re.escape(name)}\b"
    return [_EDGE_LIST] if _LISTED.fullmatch(name) or re.search(ends, text) else []


def ends(name: str) -> list[Spec]:
    """One end of each edge, where an input is called so: its nodes are picked one by one, ``x[idx_i]``."""
    return [_END] if _ENDS.fullmatch(name) else []


def with_rows(options: list[Spec]) -> list[Spec]:
    """The options, dictionaries of edges' ends first with a row for each node, or edge, in all that goes by a key."""
    found: list[Spec] = []
    for option in options:
        if isinstance(option, Many) and option.kind == "dict" and any(i == _END for i in option.items):
            parts = zip(option.keys, option.items, strict=True)
            rows = (t if t == _END or not isinstance(t, Tensor) else _of_row(k, t) for k, t in parts)
            found.append(replace(option, items=tuple(rows)))
    return list(dict.fromkeys([*found, *options]))


def _of_row(name: str, t: Tensor) -> Tensor:
    """What an input of a name has for each node, or edge, instead of for each of a batch."""
    rows = ROWS * NEIGHBOURS if _OF_EDGES.search(name) else ROWS
    if t.kind == "int":
        return replace(t, shape=(rows,))
    return Tensor(
        (rows, 3) if _IN_SPACE.fullmatch(name) else (rows, t.shape[-1] if len(t.shape) in (2, 3) else FEATURES)
    )


def beside(
    module: nn.Module, names: Sequence[str], text: str, found: list[list[Spec]], known: Mapping[str, int]
) -> list[list[Spec]]:
    """The options of all inputs, first those with a row for each node, or edge, of a graph or edge list beside them.

    ``known`` are sizes that the constructor was given, by name: where two inputs are joined, no layer tells either's.
    """
    others = [n for n in positional(module.forward) if n not in names]
    told = any(graphs(module, n, text) or edge_list(n, text) or ends(n) for n in others)
    if not told and not any(map(_is_graph, found)):
        return found
    return [
        options if _is_graph(options) else list(dict.fromkeys([*_rows(module, name, text, options, known), *options]))
        for name, options in zip(names, found, strict=True)
    ]


def _is_graph(options: Sequence[Spec]) -> bool:
    return any(o in (_EDGE_LIST, _END) or isinstance(o, Many) and o.kind == KIND for o in options[:1])


def _rows(module: nn.Module, name: str, text: str, options: Sequence[Spec], known: Mapping[str, int]) -> list[Spec]:
    first = next((option for option in options if isinstance(option, Tensor)), None)
    if first is None:
        return []
    rows = ROWS * NEIGHBOURS if _OF_EDGES.search(name) else ROWS
    if _WEIGHTS.fullmatch(name) and first.kind == "float":
        return [Tensor((rows,), "unit")]
    if _IN_SPACE.fullmatch(name):
        return [Tensor((rows, 3))]
    if re.search(rf"\b{re.escape(name)}(?:\[:, ?None\]|\.unsqueeze\((?:-1|1)\))", text):  # a number of each
        return [Tensor((rows,))]
    called = re.search(rf"\bself\.(\w+)\({re.escape(name)}[,)]", text)
    layer = module._modules.get(called[1]) if called else None
    if isinstance(layer, nn.Embedding):
        return [Tensor((rows,), "int", layer.num_embeddings)]
    if isinstance(layer, nn.Linear):
        return [Tensor((rows, layer.in_features))]
    if first.kind == "int":
        return [replace(first, shape=(rows,))]
    said = _WIDTHS[rows > ROWS]
    widths = [n for name, n in known.items() if said.search(name) and not _COUNTS.match(name) and n > 0][:1]
    widths.append(first.shape[-1] if len(first.shape) in (2, 3) else FEATURES)
    return [Tensor((rows, width)) for width in dict.fromkeys(widths)]


def with_field(spec: Many, field: str) -> list[Many]:
    """The graph with one more feature of its nodes, or of its edges; those first that the name tells."""
    sides = (EDGES, NODES) if _OF_EDGES.search(field) else (NODES, EDGES)
    rows = {NODES: ROWS, EDGES: ROWS * NEIGHBOURS}
    kinds = [(side, shape) for shape in ((FEATURES,), ()) for side in sides]
    first = next((i for i, key in enumerate(spec.keys) if key.startswith(EDGES)), len(spec.keys))
    places = {NODES: first, EDGES: len(spec.keys)}  # a graph's nodes come before its edges
    return [_inserted(spec, places[side], f"{side}.{field}", Tensor((rows[side], *shape))) for side, shape in kinds]


def _inserted(spec: Many, at: int, key: str, item: Spec) -> Many:
    items, keys = (*spec.items[:at], item, *spec.items[at:]), (*spec.keys[:at], key, *spec.keys[at:])
    return replace(spec, items=items, keys=keys)

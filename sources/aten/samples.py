"""Samples of PyTorch's own tests as programs: their structure is kept, their tiny sizes are not.

A sample's dimensions are all 2, 3, 5 or 10.  Which of them must be equal is found by trying: the finest partition of
the dimensions into sizes at which the call still runs, and gives results of the same ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from kdata.record import digest
from sources.aten import words
from sources.aten.calls import literal, spelled
from sources.aten.form import INDEX, Drawn, Form, camel, pick
from sources.aten.running import AUTO, run
from sources.aten.words import PRIMES
from sources.infer.running.check import leaves

Found = Iterator[tuple[Form, tuple[str, ...]]]
MOST_RANK, MOST_INPUTS, MOST_SLOTS = 5, 5, 6
PER_OPERATOR = 6
NAMES = ("x", "y", "z", "u", "v")
DEFAULTS = ("keepdim=False", "ceil_mode=False", "return_indices=False", "reduction='mean'", "log_target=False")
SEEN = 40  # samples that are looked at of one operator
EXCLUDED = (  # complex numbers, decompositions of matrices, sparse or random tensors, tests' own; covered elsewhere
    "fft.", "sparse", "signal.", "jiterator", "torch.", "_", "special.", "linalg.", "to", "stft", "istft", "svd",
    "pca_",
    "lu", "qr", "geqrf", "ormqr", "cholesky", "pinverse", "logdet", "triangular_solve", "view_as", "new_", "empty",
    "rand", "normal", "bernoulli", "multinomial", "cauchy", "exponential", "geometric", "log_normal", "uniform", "full",
    "hash_tensor", "unique", "nonzero", "argwhere", "masked_select", "histogram", "combinations", "cartesian",
    "nn.functional.conv", "nn.functional.linear", "nn.functional.dropout", "nn.functional.alpha", "nn.functional.rrelu",
    "nn.functional.multi_head", "nn.functional.scaled_dot", "nn.functional.feature_", "nn.functional.fractional",
    "nn.functional.max_unpool", "nn.functional.bilinear", "nn.functional.embedding_bag", "nn.functional.ctc", "einsum",
    "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm", "addmv", "addr", "mv", "dot", "vdot", "inner", "outer",
    "tensordot", "kron", "cdist", "resize", "set_", "equal", "allclose", "item", "bincount", "histc", "zero", "ones",
    "squeeze", "unsqueeze", "view", "reshape", "expand", "permute", "transpose", "t", "T", "H", "mT", "mH", "flatten",
    "unflatten", "ravel", "narrow", "select", "slice", "unbind", "split", "unsafe_", "chunk", "tensor_split", "hsplit",
    "vsplit", "dsplit", "diagonal", "as_strided", "movedim", "atleast", "broadcast", "unfold", "alias", "meshgrid",
    "sum_to_size", "full_like", "clone", "contiguous", "resolve", "real", "imag", "conj",
    "nn.functional.multilabel_margin", "native_", "nanquantile",
    "scalar_tensor", "eye", "linspace", "logspace", "arange", "block_diag", "empty_like",
)  # fmt: skip
FAMILIES = {
    "loss": ("loss", "entropy", "kl_div"),
    "pooling": ("pool",),
    "padding": ("pad",),
    "interpolation": ("interpolate", "upsample", "grid_sample"),
    "norm": ("norm",),
    "indexing": (
        "gather", "index", "take", "where", "masked", "embedding", "scatter", "put", "select", "search", "bucket",
        "isin", "tri", "diag",
    ),
    "layout": ("cat", "stack", "repeat", "tile", "roll", "flip", "rot", "shuffle", "fold"),
}  # fmt: skip
LAYERS_ELSEWHERE = (  # their constructors' numbers are sizes of their inputs
    "Conv", "Lazy", "BatchNorm", "InstanceNorm", "GroupNorm", "LayerNorm", "RMSNorm", "Linear", "Bilinear", "RNN",
    "GRU", "LSTM", "Transformer", "Multihead", "Embedding", "CTC", "Fractional", "PReLU", "MultiLabelMargin",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sample:
    """A call on tensors: its text with their names, the tensors, and what the constructor says."""

    symbol: str
    name: str
    family: str
    expression: str
    tensors: tuple[torch.Tensor, ...]
    layer: str = ""
    parts: tuple[str, ...] = ()  # names of a result's parts, where it is a tuple with names


def operators(found: Sequence[Any]) -> Found:
    """Programs of operators' samples, at most ``PER_OPERATOR`` of each: other ranks and arguments first."""
    for op in found:
        if not _excluded(op.name) and (function := spelled(op.name) or _method(op.name)):
            dtype = torch.float32 if op.supports_dtype(torch.float32, "cpu") else torch.int64
            samples = (_of_operator(op.name, function, s) for s in _first(op.sample_inputs("cpu", dtype)))
            yield from _forms([s for s in samples if s])


def modules(found: Sequence[Any]) -> Found:
    """The same of layers whose constructors' numbers are no sizes."""
    for info in found:
        kind = info.module_cls.__name__
        if kind.startswith(LAYERS_ELSEWHERE) or not hasattr(torch.nn, kind):
            continue
        given = _first(
            info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=True)
        )
        yield from _forms([s for s in (_of_module(kind, g) for g in given) if s])


def _first(samples: Any) -> Iterator[Any]:
    try:
        for _, sample in zip(range(SEEN), samples, strict=False):
            yield sample
    except (RuntimeError, TypeError, ValueError):
        return  # a sample of the tests' own that cannot be made here


def _excluded(name: str) -> bool:
    return any(name == e or (len(e) > 4 or e.endswith((".", "_"))) and name.startswith(e) for e in EXCLUDED)


def _method(name: str) -> str:
    return f".{name}" if hasattr(torch.Tensor, name) else ""


def _of_operator(name: str, function: str, sample: Any) -> Sample | None:
    arguments, tensors = _arguments([sample.input, *sample.args], sample.kwargs)
    if arguments is None:
        return None
    if function.startswith("."):
        expression = f"{arguments[0]}{function}({', '.join(arguments[1:])})"
    else:
        expression = f"{function}({', '.join(arguments)})"
    short = name.rpartition(".")[2]
    symbol = function.replace("F.", "torch.nn.functional.", 1) if function[0] == "F" else function
    return Sample(symbol.replace(".", "torch.Tensor.", 1) if symbol[0] == "." else symbol, camel(short), _family(name),
                  expression, tensors)  # fmt: skip


def _of_module(kind: str, given: Any) -> Sample | None:
    constructor, forward = given.constructor_input, given.forward_input
    made, none = _arguments(list(constructor.args), constructor.kwargs)
    if made is None or none or forward is None:
        return None
    arguments, tensors = _arguments(list(forward.args), forward.kwargs)
    if arguments is None:
        return None
    layer = (
        "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).strip("_") if kind.endswith("Loss") else "layer"
    )
    loss = kind.endswith("Loss")
    attribute = "loss" if loss else "layer"
    expression = f"self.{attribute}({', '.join(arguments)})"
    layer = f"self.{attribute} = nn.{kind}({', '.join(made)})"
    return Sample(f"torch.nn.{kind}", kind, "loss" if loss else "layer", expression, tensors, layer)


def _family(name: str) -> str:
    short = name.rpartition(".")[2]
    for family, parts in FAMILIES.items():
        if any(p in short for p in parts):
            return family
    return "masked" if name.startswith("masked.") else "other"


def _arguments(positional: list[Any], keyword: dict[str, Any]) -> tuple[list[str] | None, tuple[torch.Tensor, ...]]:
    """Arguments as texts, and the tensors that they name; None for what has no text."""
    tensors: list[torch.Tensor] = []

    def said(value: Any) -> str | None:
        if isinstance(value, torch.Tensor):
            tensors.append(value)
            return NAMES[len(tensors) - 1] if len(tensors) <= MOST_INPUTS else None
        if isinstance(value, list | tuple) and any(isinstance(v, torch.Tensor) for v in value):
            inner = [said(v) for v in value]
            return None if None in inner else f"[{', '.join(i for i in inner if i)}]"
        return literal(value)

    texts = [said(v) for v in positional]
    named = {k: said(v) for k, v in keyword.items()}
    if any(t is None for t in (*texts, *named.values())):
        return None, ()
    spoken = [f"{k}={v}" for k, v in named.items() if f"{k}={v}" not in DEFAULTS and v != "None"]
    return [t for t in texts if t] + spoken, tuple(tensors)


def _forms(samples: list[Sample]) -> Found:
    """Samples that can be enlarged, those first that differ most from one another."""
    taken, seen = 0, set[str]()
    for sample in sorted(samples, key=lambda s: digest(s.expression, str([t.shape for t in s.tensors]))):
        shapes = [tuple(t.shape) for t in sample.tensors]
        key = f"{sample.expression} {sample.layer} {[len(s) for s in shapes]} {[[d == 1 for d in s] for s in shapes]}"
        if taken >= PER_OPERATOR or key in seen or not _fits(sample):
            continue
        seen.add(key)
        if (form := _enlarged(sample)) is not None:
            taken += 1
            yield form, ()


def _fits(sample: Sample) -> bool:
    tensors = sample.tensors
    return bool(tensors) and any(t.ndim for t in tensors) and all(
        t.ndim <= MOST_RANK and t.numel() > 0 and t.layout == torch.strided and not t.is_complex()
        and t.dtype in (torch.float32, torch.int64, torch.bool) for t in tensors)  # fmt: skip


def _enlarged(sample: Sample) -> Form | None:
    """The sample with sizes of its own for the dimensions that may vary."""
    slots = [(i, d, n) for i, t in enumerate(sample.tensors) for d, n in enumerate(t.shape) if n > 1]
    result = _result(sample)
    sample = replace(sample, parts=tuple(getattr(type(result), "__match_args__", ())))
    ranks = [t.ndim for t in leaves(result)]
    for groups in _partitions(slots) if ranks and slots else ():
        form = _written(sample, slots, groups)
        if (fitting := _indexed(form, sample, ranks)) is not None:
            return fitting
    return None


def _partitions(slots: list[tuple[int, int, int]]) -> Iterator[list[int]]:
    """Group numbers of slots, finest first; slots of different values are never together."""
    if len(slots) <= MOST_SLOTS:
        yield from sorted(_refinements(slots), key=lambda g: (-max(g, default=-1), g))
        return
    ranks = {i: max(d for j, d, _ in slots if j == i) for i, _, _ in slots}
    for key in (lambda s: s[:2], lambda s: (ranks[s[0]] - s[1], s[2]), lambda s: (s[1], s[2]), lambda s: s[2]):
        numbers: dict[Any, int] = {}
        yield [numbers.setdefault(key(s), len(numbers)) for s in slots]


def _refinements(slots: list[tuple[int, int, int]]) -> Iterator[list[int]]:
    def extend(groups: list[int]) -> Iterator[list[int]]:
        if len(groups) == len(slots):
            yield groups
            return
        value, new = slots[len(groups)][2], max(groups, default=-1) + 1
        same = {g for g, s in zip(groups, slots, strict=False) if s[2] == value}
        for g in (*sorted(same), new):
            yield from extend([*groups, g])

    yield from extend([])


def _written(sample: Sample, slots: list[tuple[int, int, int]], groups: list[int]) -> Form:
    """The form of a partition: each group is named after the first dimension that is in it."""
    key = (sample.expression, sample.layer, *(tuple(t.shape) for t in sample.tensors))
    named: dict[int, str] = {}
    for (tensor, dim, _), group in zip(slots, groups, strict=True):
        if group not in named:
            word = words.names(sample.tensors[tensor].ndim, *key, tensor)[dim]
            named[group] = word if word not in named.values() else f"{NAMES[tensor]}_{word}"
            while list(named.values()).count(named[group]) > 1:
                named[group] += "_"
    places = {(t, d): named[g] for (t, d, _), g in zip(slots, groups, strict=True)}
    inputs = tuple(
        Drawn(NAMES[i], tuple(places.get((i, d), "1") for d in range(t.ndim)), _draw(t))
        for i, t in enumerate(sample.tensors)
    )  # fmt: skip
    sizes = words.values(list(named.values()), *key, shapes=[i.shape for i in inputs])
    name = sample.name + pick(("", "", "Model", "Layer", "Op"), "class", *key)
    name = f"{name}Module" if name == sample.name and sample.layer else name
    parts = ", ".join(sample.parts)
    body = (f"{parts} = {sample.expression}", f"return {parts}") if parts else (f"return {sample.expression}",)
    return Form(sample.symbol, name, sample.family, inputs, body, sizes, (sample.layer,) if sample.layer else ())


def _draw(tensor: torch.Tensor) -> str:
    if tensor.dtype == torch.bool:
        return "mask"
    if tensor.dtype == torch.int64:
        return f"{INDEX}{int(tensor.max()) + 1}" if int(tensor.min()) >= 0 else f"{INDEX}1"
    if bool((tensor.abs() == 1).all()):
        return "labels"
    low, high = float(tensor.min()), float(tensor.max())
    return "unit" if low >= 0 and high <= 1 else AUTO


def _indexed(form: Form, sample: Sample, ranks: list[int]) -> Form | None:
    """The form with integers drawn below the largest size that they may index; None if it does not run."""
    whole = [i for i, t in enumerate(sample.tensors) if t.dtype == torch.int64]
    bounds: list[str] = [*form.sizes, ""] if whole else [""]
    for bound in bounds if len(whole) else [""]:
        inputs = tuple(
            replace(d, draw=f"{INDEX}{bound}") if bound and i in whole else d for i, d in enumerate(form.inputs)
        )
        tried = replace(form, inputs=tuple(replace(d, draw="normal") if d.draw == AUTO else d for d in inputs))
        # In both orders: an index may have to be no longer than what it indexes.
        orders = (PRIMES[: len(form.sizes)], PRIMES[: len(form.sizes)][::-1])
        if all(_always(replace(tried, sizes=dict(zip(form.sizes, p, strict=True))), ranks) for p in orders):
            return replace(form, inputs=inputs)
    return None


def _always(form: Form, ranks: list[int]) -> bool:
    try:
        return all([t.ndim for t in run(form, seed)] == ranks for seed in (1, 2, 3))
    except Exception:  # noqa: BLE001 - an index out of range, in one draw of several
        return False


def _result(sample: Sample) -> Any:
    """What the sample itself gives."""
    namespace: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    if sample.layer:
        holder = torch.nn.Module()
        exec(sample.layer, namespace | {"self": holder})  # noqa: S102 - in the sandbox
        namespace["self"] = holder
    given = {n: t.detach() for n, t in zip(NAMES, sample.tensors, strict=False)}
    try:
        with torch.no_grad():
            return eval(sample.expression, namespace, given)  # noqa: S307 - in the sandbox
    except Exception:  # noqa: BLE001 - samples that are errors on purpose
        return None

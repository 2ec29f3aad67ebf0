"""Short chains of operators, drawn with a seed from what runs together: layers, activations, norms, reductions.

A chain is no code that was found: its origin and its first line say so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sources.aten import words
from sources.aten.form import Drawn, Form, camel

Found = Iterator[tuple[Form, tuple[str, ...]]]
LENGTHS = (2, 2, 3, 3, 3, 4, 4)
STARTS = (
    ("batch_size", "in_features"),
    ("batch_size", "features"),
    ("rows", "columns"),
    ("num_tokens", "hidden_size"),
    ("batch_size", "sequence_length", "hidden_size"),
    ("batch_size", "sequence_length", "in_features"),
    ("batch_size", "in_channels", "length"),
    ("batch_size", "in_channels", "height", "width"),
    ("batch_size", "channels", "height", "width"),
    ("batch_size", "channels", "length"),
    ("batch_size", "num_heads", "sequence_length", "head_dim"),
    ("batch_size", "in_channels", "depth", "height", "width"),
    ("length",),
)
# Elementwise: as a function, and as a layer where there is one.
POINTWISE: dict[str, tuple[str, str]] = {
    "relu": ("torch.relu({})", "nn.ReLU()"),
    "gelu": ("F.gelu({})", "nn.GELU()"),
    "silu": ("F.silu({})", "nn.SiLU()"),
    "sigmoid": ("torch.sigmoid({})", "nn.Sigmoid()"),
    "tanh": ("torch.tanh({})", "nn.Tanh()"),
    "leaky_relu": ("F.leaky_relu({}, negative_slope=0.1)", "nn.LeakyReLU(0.1)"),
    "elu": ("F.elu({})", "nn.ELU()"),
    "softplus": ("F.softplus({})", "nn.Softplus()"),
    "mish": ("F.mish({})", "nn.Mish()"),
    "hardswish": ("F.hardswish({})", "nn.Hardswish()"),
    "hardtanh": ("F.hardtanh({}, -0.5, 2.0)", "nn.Hardtanh(-0.5, 2.0)"),
    "softsign": ("F.softsign({})", "nn.Softsign()"),
    "relu6": ("F.relu6({})", "nn.ReLU6()"),
    "hardsigmoid": ("F.hardsigmoid({})", "nn.Hardsigmoid()"),
    "selu": ("F.selu({})", "nn.SELU()"),
    "logsigmoid": ("F.logsigmoid({})", "nn.LogSigmoid()"),
    "tanh_gelu": ('F.gelu({}, approximate="tanh")', 'nn.GELU(approximate="tanh")'),
    "abs": ("torch.abs({})", ""),
    "square": ("{0} * {0}", ""),
    "scale": ("{} * 0.5", ""),
    "shift": ("{} + 1.0", ""),
    "clamp": ("torch.clamp({}, min=-1.0, max=1.0)", ""),
    "negate": ("-{}", ""),
    "sin": ("torch.sin({})", ""),
    "cos": ("torch.cos({})", ""),
    "divide": ("{} / 3.0", ""),
    "exp": ("torch.exp(-{}.abs())", ""),
    "sqrt": ("torch.sqrt({}.abs() + 1e-6)", ""),
    "erf": ("torch.erf({})", ""),
    "log1p": ("torch.log1p({}.abs())", ""),
    "reciprocal": ("1.0 / (1.0 + {0} * {0})", ""),
    "subtract": ("{} - 0.25", ""),
    "swish": ("{0} * torch.sigmoid({0})", ""),
}
REDUCTIONS = {
    "sum": "torch.sum",
    "mean": "torch.mean",
    "amax": "torch.amax",
    "amin": "torch.amin",
    "logsumexp": "torch.logsumexp",
    "var": "torch.var",
    "norm": "torch.linalg.vector_norm",
}
PAIRED = {
    "add": "{} + {}",
    "multiply": "{} * {}",
    "maximum": "torch.maximum({}, {})",
    "subtract": "{} - {}",
    "minimum": "torch.minimum({}, {})",
}
LOSSES = {
    "mse_loss": "F.mse_loss({}, {})",
    "l1_loss": "F.l1_loss({}, {})",
    "smooth_l1_loss": "F.smooth_l1_loss({}, {})",
    "huber_loss": "F.huber_loss({}, {}, delta=0.5)",
    "cosine": "F.cosine_similarity({}, {}, dim=-1)",
}
KERNELS = ("3, padding=1", "1", "3", "3, stride=2, padding=1", "5, padding=2")
SAME = ("3, padding=1", "1", "5, padding=2")  # those that keep the size of an image
CHANNEL_NORMS = {
    "batch_norm": "nn.BatchNorm{rank}d({size})",
    "group_norm": "nn.GroupNorm(8, {size})",
    "instance_norm": "nn.InstanceNorm{rank}d({size}, affine=True)",
}
KEEPING = {
    "center": "x - x.mean(dim={}, keepdim=True)",
    "normalize": "F.normalize(x, dim={})",
    "shift_max": "x - x.amax(dim={}, keepdim=True)",
}
UNKNOWN = "?"  # a size that is no longer one of the constants


@dataclass(slots=True)
class Chain:
    """A chain in the making: ``shape`` is that of ``x`` so far."""

    rng: random.Random
    functional: bool
    shape: list[str]
    start: tuple[str, ...] = ()
    steps: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    inputs: list[Drawn] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    arguments: dict[str, str] = field(default_factory=dict)
    finished: bool = False

    def say(self, word: str, expression: str) -> bool:
        """Another step."""
        self.steps.append(word)
        self.lines.append(f"x = {expression}")
        return True

    def layer(self, word: str, made: str, *arguments: str) -> bool:
        """A step through a layer of the constructor."""
        name = word if f"self.{word} =" not in " ".join(self.layers) else f"{word}{len(self.layers) + 1}"
        self.layers.append(f"self.{name} = {made}")
        self.arguments |= {a: a for a in arguments}
        return self.say(word, f"self.{name}(x)")

    def parameter(self, name: str, *shape: str) -> str:
        """A parameter of the module, random because zeros and ones hide mistakes."""
        name = name if f"self.{name} =" not in " ".join(self.layers) else f"{name}{len(self.layers) + 1}"
        self.layers.append(f"self.{name} = nn.Parameter(torch.randn({', '.join(shape)}))")
        self.arguments |= {a: a for a in shape if not a.isdigit()}
        return f"self.{name}"

    def new(self, *options: str) -> str:
        """A size that the chain has not used."""
        used = {*self.shape, *self.start, *self.arguments}
        return next((o for o in options if o not in used), "")

    def another(self, shape: list[str]) -> str:
        """Another input."""
        name = ("y", "z", "w")[len(self.inputs) - 1]
        self.inputs.append(Drawn(name, tuple(shape)))
        return name


def chains(seed: int) -> Found:
    """Chains without end."""
    rng = random.Random(seed)
    while True:
        form = _chain(rng)
        if form is not None:
            yield form, ()


def _chain(rng: random.Random) -> Form | None:
    start = rng.choice(STARTS)
    chain = Chain(rng, rng.random() < 0.5, list(start), start, inputs=[Drawn("x", start)])
    length = rng.choice(LENGTHS)
    while len(chain.steps) < length and not chain.finished:
        last = len(chain.steps) == length - 1
        options = [*_heavy(chain), *light(chain), *(ending(chain) if last else [])]
        weights = [w for w, _ in options]
        _, step = rng.choices(options, weights)[0]
        if len(chain.inputs) > 3 or not step(chain):
            return None
    return _form(chain)


def _form(chain: Chain) -> Form:
    lines = list(chain.lines)
    if chain.functional and chain.rng.random() < 0.3:
        lines[-1] = f"return {lines[-1].removeprefix('x = ')}"
    else:
        lines.append("return x")
    names = list(dict.fromkeys([*(n for d in chain.inputs for n in d.shape if not n.isdigit()), *chain.arguments]))
    shapes = [d.shape for d in chain.inputs]
    weights = [tuple(chain.arguments)] if len(chain.arguments) > 1 else []
    sizes = words.values(names, *chain.lines, *chain.start, shapes=[*shapes, *weights])
    name = camel(*chain.steps)
    layers, inputs = tuple(chain.layers), tuple(chain.inputs)
    return Form(", ".join(chain.steps), name, "chain", inputs, tuple(lines), sizes, layers, chain.arguments)


Option = tuple[float, Callable[[Chain], bool]]


def _heavy(chain: Chain) -> list[Option]:
    """Layers that mix what they are given."""
    shape, fresh = chain.shape, not {"linear", "conv", "matmul"} & set(chain.steps)
    found: list[Option] = []
    if len(shape) > 1 and shape[-1] != UNKNOWN and fresh and "height" not in shape:
        found += [(5.0, _linear), (1.5, _matmul)]
    if len(shape) > 2 and shape[1].endswith("channels") and fresh:
        found += [(6.0, _convolution)]
    if len(shape) > 1 and shape[-1] != UNKNOWN and "height" not in shape:
        found += [(1.5, _last_norm)]
    if len(shape) > 2 and shape[1].endswith("channels"):
        found += [(2.5, _channel_norm), (1.2, _pool)]
    return found


def light(chain: Chain) -> list[Option]:
    """Steps that any tensor can take."""
    found: list[Option] = [(6.0, act), (1.0, _softmax), (1.0, _keeping)]
    if UNKNOWN not in chain.shape:
        found += [(1.5, _with_another), (0.8, add_bias)]
    if chain.steps and tuple(chain.shape) == chain.start:
        found += [(1.0, _residual)]
    if chain.shape[-1] == "in_features" or chain.shape[-1] in ("hidden_size", "features"):
        found += [(0.5, gated)]
    return found


def ending(chain: Chain) -> list[Option]:
    """Steps after which there is not much left to do."""
    found: list[Option] = [(2.5, _reduction), (0.5, _scan)]
    if UNKNOWN not in chain.shape and len(chain.shape) > 1:
        found += [(0.8, compared)]
    return found if chain.steps else []


def _linear(chain: Chain) -> bool:
    given, made = chain.shape[-1], chain.new("out_features", "hidden_size", "embed_dim")
    if not made:
        return False
    chain.shape[-1] = made
    if chain.functional:
        weight = chain.parameter("weight", made, given)
        bias = f", {chain.parameter('bias', made)}" if chain.rng.random() < 0.6 else ""
        return chain.say("linear", f"F.linear(x, {weight}{bias})")
    bias = "" if chain.rng.random() < 0.7 else ", bias=False"
    return chain.layer("linear", f"nn.Linear({given}, {made}{bias})", given, made)


def _matmul(chain: Chain) -> bool:
    given, made = chain.shape[-1], chain.new("out_features", "n", "embed_dim")
    if not made:
        return False
    turned = chain.rng.random() < 0.4
    other = chain.another([made, given] if turned else [given, made])
    chain.shape[-1] = made
    return chain.say("matmul", f"torch.matmul(x, {other}{'.t()' if turned else ''})")


def _convolution(chain: Chain) -> bool:
    rank, given, made = len(chain.shape) - 2, chain.shape[1], chain.new("out_channels")
    if not made:
        return False
    kernel = chain.rng.choice(KERNELS)
    same = kernel in SAME
    up = chain.rng.random() < 0.2
    chain.shape[1:] = [made, *(chain.shape[2:] if same and not up else [UNKNOWN] * rank)]
    if up:
        return chain.layer("conv_transpose", f"nn.ConvTranspose{rank}d({given}, {made}, 2, stride=2)", given, made)
    if chain.functional:
        size, _, more = kernel.partition(", ")
        weight = chain.parameter("weight", made, given, *[size] * rank)
        return chain.say("conv", f"F.conv{rank}d(x, {weight}{', ' + more if more else ''})")
    return chain.layer("conv", f"nn.Conv{rank}d({given}, {made}, {kernel})", given, made)


def _last_norm(chain: Chain) -> bool:
    size, word = chain.shape[-1], chain.rng.choice(("layer_norm", "layer_norm", "rms_norm"))
    if chain.functional:
        weight = f", weight={chain.parameter('scale', size)}" if chain.rng.random() < 0.4 else ""
        chain.arguments |= {size: size}
        if f"self.{size} = {size}" not in chain.layers:
            chain.layers.append(f"self.{size} = {size}")
        return chain.say(word, f"F.{word}(x, (self.{size},){weight})")
    return chain.layer(word, f"nn.{'LayerNorm' if word == 'layer_norm' else 'RMSNorm'}({size})", size)


def _channel_norm(chain: Chain) -> bool:
    rank, size = len(chain.shape) - 2, chain.shape[1]
    word = chain.rng.choice(list(CHANNEL_NORMS))
    return chain.layer(word, CHANNEL_NORMS[word].format(rank=rank, size=size), size)


def _pool(chain: Chain) -> bool:
    rank, word = len(chain.shape) - 2, chain.rng.choice(("max_pool", "avg_pool"))
    chain.shape[2:] = [UNKNOWN] * rank
    if chain.functional:
        return chain.say(word, f"F.{word}{rank}d(x, kernel_size=2)")
    return chain.layer(word, f"nn.{camel(word)}{rank}d(2)")


def act(chain: Chain) -> bool:
    """A function of each element."""
    word = chain.rng.choice([w for w in POINTWISE if w not in chain.steps])
    function, layer = POINTWISE[word]
    if chain.functional or not layer:
        return chain.say(word, function.format("x"))
    return chain.layer(word, layer)


def _softmax(chain: Chain) -> bool:
    if "softmax" in " ".join(chain.steps):
        return False
    word = chain.rng.choice(("softmax", "log_softmax"))
    dim = chain.rng.choice((-1, 1 if len(chain.shape) > 1 else 0))
    if chain.functional:
        return chain.say(word, f"torch.{word}(x, dim={dim})")
    return chain.layer(word, f"nn.{camel(word)}(dim={dim})")


def _keeping(chain: Chain) -> bool:
    """Take away, or divide by, what a dimension comes to."""
    dim = chain.rng.choice((-1, 1 if len(chain.shape) > 1 else 0))
    word = chain.rng.choice(list(KEEPING))
    return word not in chain.steps and chain.say(word, KEEPING[word].format(dim))


def _with_another(chain: Chain) -> bool:
    word, shape = chain.rng.choice(list(PAIRED)), list(chain.shape)
    if chain.rng.random() < 0.4 and len(shape) > 1:
        shape = shape[1:] if chain.rng.random() < 0.5 else [shape[0], *["1"] * (len(shape) - 1)]
    other = chain.another(shape)
    return word not in chain.steps and chain.say(word, PAIRED[word].format("x", other))


def add_bias(chain: Chain) -> bool:
    """A parameter for each channel or feature, added or multiplied."""
    word, sign, name = chain.rng.choice((("add_bias", "+", "bias"), ("scale_by", "*", "gain")))
    rank = len(chain.shape)
    images = rank > 2 and chain.shape[1].endswith("channels")
    shape = [chain.shape[1], *["1"] * (rank - 2)] if images else [chain.shape[-1]]
    if word in chain.steps:
        return False
    return chain.say(word, f"x {sign} {chain.parameter(name, *shape)}")


def _residual(chain: Chain) -> bool:
    if "residual" in chain.steps:
        return False
    chain.lines.insert(0, "residual = x")
    return chain.say("residual", "x + residual")


def gated(chain: Chain) -> bool:
    """One half times the sigmoid of the other."""
    if "glu" in chain.steps:
        return False
    chain.shape[-1] = UNKNOWN
    return chain.say("glu", "F.glu(x, dim=-1)")


def _reduction(chain: Chain) -> bool:
    word, rank = chain.rng.choice(list(REDUCTIONS)), len(chain.shape)
    pairs = {3: ["(1, 2)"], 4: ["(2, 3)"]}.get(rank, [])
    dim = chain.rng.choice(["-1", "1" if rank > 1 else "0", *pairs])
    keep = ", keepdim=True" if chain.rng.random() < 0.4 else ""
    chain.finished = True
    return chain.say(word, f"{REDUCTIONS[word]}(x, dim={dim}{keep})")


def _scan(chain: Chain) -> bool:
    chain.finished = True
    return chain.say("cumsum", f"torch.cumsum(x, dim={chain.rng.choice((-1, 1 if len(chain.shape) > 1 else 0))})")


def compared(chain: Chain) -> bool:
    """A loss against another input."""
    word, other = chain.rng.choice(list(LOSSES)), chain.another(chain.shape)
    chain.finished = True
    return chain.say(word, LOSSES[word].format("x", other))

"""First guesses for constructor arguments, from their names, annotations and uses.

The search mends wrong guesses; right ones make it short and its results realistic: sizes of real models, powers of
two.  Each value is a Python expression, because it ends up in a task's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sources.hints.uses import Uses

DIMENSION, CHANNELS, TOKENS, IMAGE, HEADS = "64", "64", "64", "32", "4"
WINDOW = "256"  # samples of a sound, beside a hop of fewer
COUNTS = ["2", "4", "1", "3"]
CONVOLUTION = "(32, 3, 2)"  # its channels, window and stride
ADJACENCY = "torch.rand(64, 64) * 0.03"  # of a graph: its rows add up to about one
GRAPH = [ADJACENCY, f"({ADJACENCY}).numpy()"]
GRAPHS = [text.replace("rand(", "rand(3, ") for text in GRAPH]  # one for each kind of neighbours
EDGES = "torch.stack([torch.arange(16), torch.arange(16).roll(1)])"  # of a graph: each node to the next
OF_CHANNELS, OF_FEATURES = "(64, 1, 1)", "(64,)"  # shapes of what is added to images, and to rows
NORM = ["nn.LayerNorm", "nn.BatchNorm2d", "'batch'", "'layer'", "nn.Identity"]
ACTIVATION = ["nn.GELU", "nn.ReLU()", "'relu'", "'gelu'", "F.relu"]
MODULE = ["nn.Identity()", "nn.Linear(64, 64)", "nn.Conv2d(64, 64, 3, padding=1)", "nn.Identity", "nn.ReLU()"]
_NO_COUNT = r"(?!.*(len|seq|num|size|step|pos|tok|node|iter|depth|layer))"  # ``dec_max_len`` is no bound of values
# Name patterns and what a parameter of such a name is given; the first that matches counts.
BY_NAME: list[tuple[re.Pattern[str], list[str]]] = [
    (re.compile(pattern), values)
    for pattern, values in [
        (r"^(use|is|with|has|if|do|no|enable|return|need|requires|learn|learnable|shared?|pretrained|verbose)(_|$)"
         r"|^(causal|bidirectional|inplace|bias|affine|residual|shortcut|training|pre_norm|qkv_bias|qk_norm|bn)$"
         r"|_bias$|_flag$|_only$|_first$", ["False", "True"]),
        (r"(emb|embed|embedding|word|token|vocab|glove|w2v)s?_?(matrix|mat|weights?|vectors?|vecs?|table|tensor)$"
         r"|^weights?_matrix$|^pre_?train(ed)?_(\w+_)?(emb\w*|weights?|vectors?)$",
         ["torch.randn(1024, 64)", "torch.randn(1024, 64).numpy()", "1024"]),
        (r"(^|_)adj(acency)?(_?(m|mx|mat|matrix))?$", GRAPH),
        (r"(^|_)edge_?(index|indices|list)$", [EDGES]),
        (r"(^|_)beta_?(0|1|start|min)$|linear_start$", ["0.0001"]),  # of a diffusion: all noise else
        (r"(^|_)beta_?(t|end|max)$|linear_end$", ["0.02"]),
        (r"^n_?(min|max)$|^(min|max)_?(n|num|kept|count)(_\w+)?$", ["16", "2"]),
        (rf"(^|_)min(_val|_value)?$|_min_{_NO_COUNT}", ["-1.0", "0.0"]),
        (rf"(^|_)max(_val|_value)?$|_max_{_NO_COUNT}", ["1.0", "6.0"]),
        (r"^(add|subtract|scale|scaling|multiply|multiplier|constant|divide|sub|mul)\d?_?(value|factor|by)?(_?\d)?$|divisor",
         ["0.5", "2.0", "2", "64"]),
        (r"(up|down)_?(sampl\w*|scal\w*)_(scale|rate|factor|ratio)$", ["4", "2"]),
        (r"sampl(e|ing)_?(rate|freq(uency)?)$|^s(amp)?_?rate$|^(sr|fs)$", ["16000", "0.5"]),  # of sounds
        (r"^(mel_?)?f(req)?_?min$", ["0.0"]),
        (r"^(mel_?)?f(req)?_?max$", ["8000.0"]),
        (r"(^|_)(obs|observation|state|image|img|frame)s?_shape$", ["(3, 64, 64)", "(64,)", "(64, 1, 1)"]),
        (r"(^|_)act(ion)?s?_shape$", ["(4,)", "4", "(64,)"]),
        (r"^(out|output|feat(ure)?|map|fm|pool(ed)?|grid)_?(h|w|height|width)$", ["7", "8", "4"]),  # of what is left
        (r"(^|_)(in|out|inputs?|outputs?|feat\w*|stage|layer|level)_(ids|indices|indexes|offsets)$",
         ["[0, 1]", "[0, 1, 2, 3]"]),
        (r"(^|_)(end|stop)_?(idx|ind|index)$", ["16", "64"]),  # behind where it starts
        (r"_shape$", [OF_CHANNELS, OF_FEATURES, "(32, 32)", "64"]),
        (r"^lags?(_?seq(uence)?)?$", ["[1, 2, 3]", "1"]),  # how many steps back
        (r"vocab|num_embeddings|n_?tokens?$|^num_tokens$|n_words|num_types", ["1024"]),
        (r"class(?!ifi|_?(name|type|weight|tok|emb|fn|map|loss))|num_labels|num_outputs|num_actions", ["16", "2"]),
        (r"head_?dim|dim_?head|^d_?[kv]$|d_head|per_head|kv_lora|q_lora", ["16", "32"]),
        # of a layer among its like, of a word in a vocabulary
        (r"^(?!pad|num_|n_|ignore_)(\w+_)?(idx|ind|index)$|^(layer|block|level|stage)_?(id|no)$", ["0", "1", "2"]),
        (r"heads?$|^n_?heads?|^nheads?$|^h$|_heads$", [HEADS, "8", "1"]),
        (r"^(depth|n_?layers?|num_?layers?|nlayers|num_?blocks?|n_?blocks?|n_?repeats?|num_stages?|steps?|n_iter|iters)$"
         r"|_depth$|_layers$|num_experts|n_experts", COUNTS),
        (r"(^|_)(num|nr?)_(\w+_)?(blocks?|layers?|modules|repeats?|convs?|stacks?|stages?|cells|branches|levels|downs?|ups?"
         r"|steps|iter(ation)?s?|highways?|downsampl\w+|upsampl\w+|hops?|flows?|scales?)(_per_\w+)?$"
         r"|_modules$|_blocks$", ["2", "1", "3", "4"]),
        (r"(^|_)world_?size$|_parallel_size$", ["1"]),  # a task is one process
        (r"^(local|global|master|world|process)_?rank$", ["0"]),
        (r"kwargs$", ["{}"]),
        (r"kernel|^k$|^ks$|^k_?size$|filter_size|window_size_conv", ["3", "1", "5", "7"]),
        (r"stride", ["1", "2"]),
        (r"(up|down)_?(sampl\w*|scal\w*)_(scales|rates|factors|ratios)$", ["[4, 4]", "[2, 2]"]),
        (r"output_pad|out_pad", ["0", "1"]),
        (r"pad(ding)?_(mode|type)$", ["'zeros'", "'reflect'", "'zero'"]),
        (r"^pad|padding", ["1", "0"]),
        (r"dilat", ["1", "2"]),
        (r"(^|_)n?groups?$|^g$|cardinality", ["4", "1", "32"]),
        (r"(^|_|n|m)eps", ["1e-5"]),  # no steps
        (r"momentum|decay", ["0.1"]),
        (r"growth", ["16", "32"]),  # of a dense block, in channels
        (r"drop|^p$|_p$|prob|keep", ["0.0", "0.1"]),
        (r"reduction|^ratio|squeeze|^r$|expan|mlp_ratio|^factor|scale_factor|upscale|multiplier|_mult$|^mult$|shrink",
         ["4", "2", "1", "'mean'", "0.25"]),
        (r"im(age|g)_?s|input_res|resolution|^img|input_size|^size$|spatial_size|fmap|feat_size|feature_size",
         [IMAGE, "(32, 32)", "64", "224"]),
        (r"patch(?!es$)", ["4", "8", "16", "2"]),
        (r"window", ["8", "4", "7", "3", "(8, 8)"]),
        (r"seq|max_?len|length|context|block_size|num_pos|max_pos|positions|horizon|max_t|time_?steps?|frames|^len"
         r"|num_patches|n_patches|num_nodes|top_?k|codebook|num_quer|num_token", [TOKENS, "16", "32"]),
        (r"^(lr|alpha|beta|gamma|lam|tau|scale|weight|sigma|margin|std|mean|slope|delta|thr)$|_weight$|_scale$"
         r"|rate$|_factor$|lambda|threshold|(^|_)temp$|temperature|init_value", ["0.5", "1.0", "2", "64"]),
        (r"loss|criterion", ["nn.MSELoss()", "nn.BCEWithLogitsLoss()", "nn.L1Loss()", "1.0"]),
        (r"(^|_)norm\w*_(type|mode|name|kind)$", ["'batch'", "'layer'", "'instance'", "'bn'"]),
        (r"(^|_)act(ivation)?_(type|mode|name|kind)$", ["'relu'", "'gelu'", "'silu'"]),
        (r"norm", NORM),
        (r"(^|_)act(ivation|_|$|s$)|nonlin|relu$", ACTIVATION),
        (r"pool\w*_(sizes?|scales?|widths?|factors?|ratios?)$|(^|_)(n|num)_pool", ["2", "3", "[1, 2]"]),
        (r"pool", ["'avg'", "'max'", "2", "nn.AvgPool2d", "nn.MaxPool2d(2)"]),
        (r"^conv(_?layer|_?block|_?op|_?fn|_?type)?$", ["nn.Conv2d", "nn.Conv2d(64, 64, 3, padding=1)"]),
        (r"^(layers|depths|blocks|block_config|cfgs?_?list|stages?|units)$", ["[2, 2]", "[2, 2, 2, 2]", "2"]),
        (r"(dims|channels|filters|sizes|widths|planes|features|chs)(_list)?$|_list$",
         [CHANNELS, "[32, 64, 128]", "[16, 32, 64, 128]"]),
        (r"device", ["None", "'cpu'", "torch.device('cpu')"]),
        (r"(^|_)init(ial)?_?(method|fn|func|function)$|initiali[sz]er$", ["nn.init.xavier_normal_", "nn.init.normal_"]),
        (r"dtype", ["torch.float32"]),
        (r"(^|_)(mode|methods?|types?|kinds?|names?|variants?|versions?|arch(itecture)?|style)$",
         ["'default'", "'bilinear'", "'mean'", "2"]),
        (r"^in_|^inp|^in$|^c1$|^c_?in|^nin|^d_model$|^embed|^dim_in|^dim$", [DIMENSION, "32", "3"]),
        (r"^out|^oup$|^c2$|^c_?out|^hidden|^inner|^mid|^ffn|^mlp|^ff_|^d_ff|^dim_?out|^nf$|^n?g?f$|^inter",
         ["128", "64"]),
        (r"extractor$|classifier$|^(?!(d|dim|n|h|hidden)_)(\w+_)?models?$", MODULE),
        (r"dim|size|hidden|features?|units|width|model|channel|chan|planes|ch$|latent|(^|_)num_|(^|_)n_",
         [DIMENSION, "32", "16"]),
        (r"^(fn|f|func|layer|module|net|backbone|encoder|decoder|body|head|stem|network|attn|mlp|sub.*|block|branch"
         r"|attention|conv|proj|.*_net|.*_module|.*_layer|.*_encoder|.*_decoder|.*_fn|.*_block)$", MODULE),
    ]
]  # fmt: skip
# Extents of a window, one for each spatial dimension.
SMALL_TUPLES = [
    (re.compile(r"kernel|pool_?size|window"), ["(3, 3)", "(3, 3, 3)", "(3,)"]),
    (re.compile(r"stride|dilat"), ["(1, 1)", "(1, 1, 1)", "(1,)"]),
    (re.compile(r"output_pad"), ["(0, 0)", "(0, 0, 0)"]),
    (re.compile(r"pad"), ["(1, 1)", "(1, 1, 1)", "(1,)"]),
    (re.compile(r"patch"), ["(4, 4)", "(2, 4, 4)"]),
]
# Extents of one sample, where it is a list of them.
SHAPES = (
    re.compile(r"(^|_)(state|obs|observation|input|in|image|img|data|sample|frame)_?(dims?|shape|size|space)$|^shape$"),
    ["(3, 64, 64)", "(64,)", "(32, 32)"],
)
BATCH_SHAPE = "(4, 64, 32, 32)"
# What OpenMMLab's classes are told their layers with.
TYPED = [
    (re.compile(r"(^|_)norm_cfg$"), "{'type': 'BN'}"),
    (re.compile(r"(^|_)act_cfg$"), "{'type': 'ReLU'}"),
    (re.compile(r"(^|_)(conv|init)_cfg$"), "None"),
]
# Layers, by what a parameter that is run is called, and by attributes that these layers have.
LAYERS = [
    ("nn.Embedding(1024, 64)", re.compile(r"emb(ed(ding|der)?)?s?(_layer)?$"), {"embedding_dim", "num_embeddings"}),
    ("nn.Linear(64, 64)", re.compile(r"(^|_)(linear|dense)$"), {"in_features", "out_features"}),
    ("nn.Conv2d(64, 64, 3, padding=1)", re.compile(r"(^|_)conv2d$"), {"out_channels", "kernel_size"}),
]
_OF_LAYERS = frozenset(["weight", "bias", "to", "eval", "train", "parameters", "state_dict", "padding_idx"])
_OF_ARRAYS = frozenset(["shape", "size", "astype"])
_MODULES_ONLY = frozenset(["parameters", "named_parameters", "modules", "named_modules", "children"])
PARTS = [f"StubModule({layer})" for layer in ("nn.Conv2d(64, 64, 3, padding=1)", "nn.Linear(64, 64)")]  # with weights
# Makes a layer from one size to another of all that it is given.
MAKER = "lambda inside, outside, *_, **__: StubModule(nn.Linear(inside, outside))"
_HOLDER = re.compile(r"\b(?:torch\.)?nn\.(ModuleList|ModuleDict|Sequential)\b")
HELD = {"ModuleList": "([{layer}, {layer}])", "ModuleDict": "({{'a': {layer}, 'b': {layer}}})",
        "Sequential": "({layer}, {layer})"}  # fmt: skip
WRAPPERS = ["nn.Sequential", "torch.nn.utils.spectral_norm"]
ARRAYS = ["torch.randn(64, 64).numpy()", "torch.randn(64, 64)", "[0.5, 0.5]", "torch.ones(64).numpy()"]
FALLBACK = ["64", "4", "nn.Identity()", "[32, 64]", "0.5", "2", "'relu'", "nn.ReLU", "True"]
CONFIG = re.compile(
    r"^(config|cfg|conf|configs|args|arg|opts?|options|hparams?|hps|hp|h|(.*_)?params|"
    r".*_?config|.*_cfg|.*_conf|.*_args|.*_opts?)$"
)
_WIDTHS = re.compile(r"chan|feat|filter|unit|dim|size|hidden|width|token|node|mels|bins|class|len|seq|vert|joint|point")
_SCALAR = re.compile(r"\bUnion\[int,|(?:^|\| ?)int(?= ?\||$)")  # a number, or several
_BY_WORD = re.compile(r"\b(?:[Dd]ict|Mapping)\[str, ?(int|float|bool)\]")  # something for each of several names
_OF_TUPLES = re.compile(r"(?:[Ll]ist|Sequence|Iterable)\[(?:\w+\.)?[Tt]uple\[")
_PLAIN = {"int": DIMENSION, "float": "0.5", "bool": "False"}
_STRING = re.compile(r"str|Optional\[str\]|str \| None|None \| str")
LISTS = ["[32, 64]", "(2, 2)", "[2, 2, 2, 2]", "[16, 32, 64, 128]", "(8, 8)", "[3, 5, 7]"]


# Of what has a logarithm or a root.
_POSITIVE = re.compile(r"sigma|var(iance)?s?\d?$|std|deviation|scale|temperature|rate")
POSITIVE_ARRAYS = ["torch.rand(64, 64).add(0.5).numpy()", "torch.rand(64, 64) + 0.5"]


def _layers(name: str, use: Uses) -> list[str]:
    """Layers of torch that a parameter may be: it is run and called like one, or asked for nothing but what one has."""
    found = []
    for value, pattern, told in LAYERS:
        alike = use.attributes & told and use.attributes <= told | _OF_LAYERS
        found += [value] if alike or use.called and pattern.search(name) else []
    return found


def _callables(use: Uses, by_name: list[str]) -> list[str]:
    """What a parameter may be that is called, where its name tells no layer."""
    makers = [MAKER] if use.makes and not re.match(r"(nn|F)\.\w+$", (*by_name, "")[0]) else []
    if any(v.startswith(("nn", "F.")) for v in by_name):
        return makers
    return [*makers, *([] if use.run else ["nn.Identity"]), *MODULE]


def _annotated(annotation: str) -> list[str]:
    """What an annotation says by itself: flags, one for each of several names, or layers that are held together."""
    if holder := _HOLDER.search(annotation):
        return [holder[0].removeprefix("torch.") + HELD[holder[1]].format(layer=layer) for layer in MODULE[1:3]]
    if by_word := _BY_WORD.search(annotation):
        return [f"{{'a': {_PLAIN[by_word[1]]}, 'b': {_PLAIN[by_word[1]]}}}"]
    return ["False", "True"] if "bool" in annotation else []


def _matrices(name: str, use: Uses, by_name: list[str]) -> list[str]:
    """What a graph may be that is asked for its shape, or what a capital letter is that is: so matrices are called.

    It is several of them where something is done for each, and numpy's where it gets another type as those do.
    """
    if not use.attributes & _OF_ARRAYS or by_name != GRAPH and not re.fullmatch("[A-Z]", name):
        return []
    found = [*(GRAPHS if use.stacked else ()), *GRAPH]
    return sorted(found, key=lambda text: not text.endswith(".numpy()")) if "astype" in use.attributes else found


def values(name: str, annotation: str, use: Uses) -> list[str]:
    """Expressions worth trying for a parameter, best first."""
    low = name.lower().lstrip("_")
    by_name = next((v for pattern, v in BY_NAME if pattern.search(low)), COUNTS if use.counted else [])
    if by_name[:1] == [DIMENSION] and (use.counts or use.counted and not _WIDTHS.search(low)):
        by_name = COUNTS
    found = [
        *filter(None, [use.mapping]),
        *map(repr, use.strings),
        *(WRAPPERS if use.wraps else ()),
        *_annotated(annotation),
        *(text for pattern, text in TYPED if pattern.search(low)),
        *_matrices(name, use, by_name),
        *_objects(low, use),
        *_tuples(low, annotation, by_name),
        *_shapes(low, use),
        *_arrays(low, annotation, use, by_name),
        *_lists(low, annotation, use, by_name),
        *(("1", "-1") if use.axis else ()),
        *(_callables(use, by_name) if use.called else ()),
        *_of_type(annotation, by_name),
        *FALLBACK,
    ]
    return list(dict.fromkeys(found))


def _objects(low: str, use: Uses) -> list[str]:
    """Layers, modules and configurations, where a parameter is asked for what these have."""
    layers, configures = _layers(low, use), CONFIG.match(low) is not None
    several = len(use.attributes - {"shape", "size", "dim", "device", "dtype", "data"}) >= 2
    parts = PARTS if use.attributes & _MODULES_ONLY and not layers else []
    return [*(layers if not configures else ()), *parts,
            *(["<config>"] if configures or several and not use.called else ())]  # fmt: skip


def _tuples(low: str, annotation: str, by_name: list[str]) -> list[str]:
    """A tuple of as many whole numbers as an annotation says, or two such tuples where it is a list of these."""
    counted = re.search(r"[Tt]uple\[(int(?:, ?int)+)\]", annotation)
    if counted is None or _SCALAR.search(annotation):
        return []
    number = next((v for v in by_name if v.isdecimal()), "2")
    one = f"({', '.join([number] * (counted[1].count(',') + 1))})"
    one = CONVOLUTION if "conv" in low and one.count(",") == CONVOLUTION.count(",") else one
    return [f"[{one}, {one}]"] if _OF_TUPLES.search(annotation) else [one]


def _shapes(low: str, use: Uses) -> list[str]:
    """Shapes of a batch, of which the channels are asked for, and of one sample."""
    found = [BATCH_SHAPE] if low.endswith("shape") and use.items and min(use.items) == 1 else []
    if use.listed and SHAPES[0].search(low):
        found += SHAPES[1] if max(use.items, default=0) != 1 else SHAPES[1][::-1]  # of two items: sides
    return found


def _arrays(low: str, annotation: str, use: Uses, by_name: list[str]) -> list[str]:
    """Arrays, where a tensor is made of a parameter whose name tells nothing better than a word."""
    if not use.array or annotation in ("int", "float") or by_name and not by_name[0].startswith("'"):
        return []
    return [*(POSITIVE_ARRAYS if _POSITIVE.search(low) else ()), *ARRAYS]


def _lists(low: str, annotation: str, use: Uses, by_name: list[str]) -> list[str]:
    """Lists and tuples, where a parameter is gone through, or an annotation says so."""
    listed = use.listed and not _STRING.fullmatch(annotation)  # letters are listed, too
    said = re.search(r"list|tuple|sequence|iterable", annotation, re.I) and not _SCALAR.search(annotation)
    if not listed and not said:
        return []
    if small := next((v for pattern, v in SMALL_TUPLES if pattern.search(low)), None):
        return small
    # no sizes: shares, and counts of what is made
    shares = [f"[{v}, {v}]" for v in by_name[:1] if re.fullmatch(r"\d+\.\d+|[12]", v)]
    return [*shares, *(v for v in by_name if v[0] in "(["), *LISTS]


def _of_type(annotation: str, by_name: list[str]) -> list[str]:
    """What a name tells, as far as an annotation admits it; what is usual of that type where nothing is left."""
    if annotation == "int":
        return [v for v in by_name if re.fullmatch(r"-?\d+", v)] or [DIMENSION, "4", "2"]
    if annotation == "float":
        return [v for v in by_name if re.fullmatch(r"[\d.e-]+", v)] or ["0.5", "1.0"]
    if annotation == "str":
        return [v for v in by_name if v.startswith("'")] or ["'relu'", "'mean'"]
    if "Module" in annotation or "Callable" in annotation:
        return [*(v for v in by_name if v.startswith(("nn", "F."))), *MODULE]
    return by_name


def rows(name: str, known: Iterable[str]) -> list[str]:
    """Matrices that a package has for a parameter of a name, as none are guessed; extents of a window are no such."""
    window = any(pattern.search(name.lower()) for pattern, _ in SMALL_TUPLES)
    return [] if window else [text for text in known if text[:2] == "[["]


def as_layers_want(options: list[str], text: str) -> list[str]:
    """The options with what the layers of a class's text want first: a normalisation of images, a shape for rows."""
    found = re.search(r"\bConv(?:Transpose)?([123])d\b", text)
    if options[0] == OF_CHANNELS and not found and "nn.Linear(" in text:
        return list(dict.fromkeys([OF_FEATURES, *options]))
    if options[0] != "nn.LayerNorm" or not found or "LayerNorm" in text:
        return options
    return list(dict.fromkeys([f"nn.BatchNorm{found[1]}d", *options]))


def leading(name: str, beside: Iterable[str], text: str) -> list[str]:
    """What a parameter most likely is by those ``beside`` it, and by the text: a side of images, a window of sounds."""
    low, others = name.lower(), {other.lower() for other in beside}
    if low in ("h", "w") and {"h", "w"} <= others or halves(name, text):
        return [IMAGE, "64"]
    return [WINDOW] if low.startswith("win") and any(other.startswith("hop") for other in others) else []


def halves(name: str, text: str) -> bool:
    """Whether a text counts by how often what is called like a side can be halved: ``int(math.log(size, 2))``."""
    named = re.search(r"size$|side|res(olution)?$", name)
    return named is not None and re.search(rf"\blog(?:2\(\s*{name}\b|\(\s*{name}, ?2\))", text) is not None

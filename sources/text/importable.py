"""Which modules a task may import, and which of ours stand in for others."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import sys

ALLOWED = frozenset(
    "torch numpy math cmath typing functools collections dataclasses abc copy itertools enum warnings types operator "
    "contextlib numbers logging re string random inspect bisect heapq statistics fractions time textwrap os sys "
    "ast pathlib struct fnmatch platform uuid json hashlib decimal traceback keyword difflib weakref pprint "
    "datetime unicodedata graphlib threading queue "
    "sympy mpmath typing_extensions".split()  # which come with torch
)
STANDARD = frozenset(sys.stdlib_module_names)
# What ``typing`` has from Python 3.12 or later on only: a task takes it from where every Python's torch finds it.
LATE = frozenset(
    ["override", "TypeAliasType", "ReadOnly", "TypeIs", "NoDefault", "get_protocol_members", "is_protocol"]
)
GROWN = frozenset(["TypeVar", "ParamSpec", "TypeVarTuple"])  # and these can do more there
UNUSABLE = ("torch.utils.tensorboard", "torch.utils.cpp_extension")  # they want more than torch
# Modules that are also attributes: one spelling, so that `from torch import nn` and `import torch.nn as nn` agree.
SUBMODULES = frozenset(
    ["torch.nn", "torch.nn.functional", "torch.nn.init", "torch.utils.checkpoint", "torch.nn.utils", "torch.fft",
     "torch.linalg", "torch.special", "torch.distributions", "torch.autograd", "collections.abc", "torch.jit",
     "torch.fx", "torch.cuda", "torch.utils", "torch.nn.parameter"]
)  # fmt: skip
# Third-party modules that our replacement of another serves, with all that is in them.
ALIASES = {
    "lightning": "pytorch_lightning", "lightning_utilities": "pytorch_lightning", "attrs": "attr",
    "timm.data": "timm.layers", "timm.loss": "timm.layers", "timm.models": "timm.layers",
    "mmengine": "mmcv", "pytorch_transformers": "transformers",
    "pytorch_pretrained_bert": "transformers", "torchinfo": "torchsummary", "thop": "torchsummary",
    "ptflops": "torchsummary", "fvcore.common.config": "yacs", "easydict": "yacs",
    "pointnet2._ext": "pointnet2_ops._ext", "pointnet2_batch_cuda": "pointnet2_cuda",
    "deform_conv_ext": "deform_conv_cuda",
    "gym": "gymnasium", "ml_collections": "yacs", "addict": "yacs", "munch": "yacs", "attrdict": "yacs",
}  # fmt: skip
# Modules below a third-party one that our replacement of it serves: ``from gymnasium import spaces``.
SERVED = frozenset(["spaces", "cnn", "nn", "layers", "models", "ops", "utils", "filters", "util", "utilities",
                    "pytorch", "resnet", "vgg", "mobilenet"])  # fmt: skip
# What is imported of these in a try is said in plain torch where it fails.
FALLBACKS = frozenset(["apex", "flash_attn", "xformers", "mamba_ssm", "causal_conv1d", "inplace_abn"])


def exports(module: str, name: str) -> bool:
    """Whether ``from module import *`` of an allowed module binds ``name``."""
    if module.split(".")[0] not in ALLOWED:
        return False
    try:
        loaded = importlib.import_module(module)
    except ImportError:
        return False
    return name in getattr(loaded, "__all__", [n for n in dir(loaded) if not n.startswith("_")])


@functools.lru_cache(maxsize=1 << 12)
def lacks(module: str, name: str) -> bool:
    """Whether an allowed module, as it is installed, has no such name, or is not there itself: other versions have.

    Private modules are not looked at: parts of torch's compiler take seconds to import.  Of what is private in another
    one it counts whether that is there.
    """
    if any(part.startswith("_") for part in module.split(".")):
        return False
    try:
        if name.startswith("_"):
            return importlib.util.find_spec(module) is None
        loaded = importlib.import_module(module)
        return not hasattr(loaded, name) and importlib.util.find_spec(f"{module}.{name}") is None
    except ModuleNotFoundError:  # of a module that is none, or is no package, either
        return True
    except ImportError:
        return False

"""The base class of pytorch_lightning's models, as much as their computing needs."""

import inspect
import operator
import re
from importlib.util import find_spec

import torch
import torch.nn as nn


class AttributeDict(dict):
    def __getattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value


class HyperparametersMixin:
    def save_hyperparameters(self, *args, ignore=(), **_):
        """Keep what the constructor that calls this was given, beside what those of its bases kept."""
        given = inspect.getargvalues(inspect.currentframe().f_back)
        values = {name: given.locals[name] for name in given.args[1:] if name in given.locals}
        values.update(given.locals.get(given.keywords) or {})
        if len(args) == 1 and not isinstance(args[0], str):
            values = args[0] if isinstance(args[0], dict) else vars(args[0])
        elif args:
            values = {k: values[k] for k in args}
        ignored = [ignore] if isinstance(ignore, str) else ignore or ()
        kept = {k: v for k, v in values.items() if k not in ignored}
        self.hparams = AttributeDict({**getattr(self, "hparams", {}), **kept})


class LightningModule(HyperparametersMixin, nn.Module):
    current_epoch = global_step = local_rank = global_rank = 0
    trainer = logger = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if "hparams" not in vars(self):
            self.hparams = AttributeDict()

    def freeze(self):
        self.requires_grad_(False).eval()

    def unfreeze(self):
        self.requires_grad_(True).train()

    @property
    def device(self):
        return next((p.device for p in self.parameters()), torch.device("cpu"))

    @property
    def dtype(self):
        return next((p.dtype for p in self.parameters()), torch.float32)

    def log(self, *args, **kwargs):
        pass

    def log_dict(self, *args, **kwargs):
        pass


class LightningDataModule:
    pass


class Callback:
    pass


def seed_everything(seed=None, workers=False, verbose=True):
    """Of what it seeds a task has torch's generator only."""
    seed = seed or 0
    torch.manual_seed(seed)
    return seed


def rank_zero_only(function):
    return function


def rank_zero_warn(*args, **kwargs):
    pass


rank_zero_info = rank_zero_debug = rank_zero_deprecation = rank_zero_warn


def RequirementCache(requirement="", module=None):
    """Whether a package is there: what tasks may import, and what other code stands in for."""
    return find_spec(re.match(r"\w*", module or requirement)[0]) is not None


module_available = package_available = RequirementCache


def compare_version(package, op, version, use_base_version=False):
    """Whichever it is, it is new."""
    return op in (operator.ge, operator.gt)

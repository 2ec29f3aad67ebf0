"""fairscale's wrappers and parallel layers, as what they compute in one process: all of a model is on one device."""

import contextlib

import torch.nn as nn
import torch.nn.functional as F


class FullyShardedDataParallel(nn.Module):
    """Calls what it wraps, and has its attributes."""

    def __init__(self, module, *_, **__):
        super().__init__()
        self.module = module

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)

    def forward(self, *args, **kwargs):
        """The module's answer."""
        return self.module(*args, **kwargs)


FSDP = ShardedDataParallel = FlattenParamsWrapper = FullyShardedDataParallel


def wrap(module, *_, **__):
    """The module: of one process nothing is sharded, and nothing is computed twice to save memory."""
    return module


auto_wrap = auto_wrap_bn = checkpoint_wrapper = wrap


@contextlib.contextmanager
def enable_wrap(*_, **__):
    """Where ``wrap`` is to shard modules."""
    yield


def default_auto_wrap_policy(*_, **__):
    """Whether a module is to be sharded by itself."""
    return False


class ColumnParallelLinear(nn.Module):
    """A linear layer whose outputs are shared among processes, of which there is one."""

    def __init__(self, in_features, out_features, bias=True, gather_output=True, init_method=nn.init.xavier_normal_,
                 stride=1, keep_master_weight_for_test=False):  # fmt: skip
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        layer = nn.Linear(in_features, out_features, bias)
        self.weight, self.bias = layer.weight, layer.bias
        init_method(self.weight)

    def forward(self, x):
        """All outputs."""
        return F.linear(x, self.weight, self.bias)


class RowParallelLinear(ColumnParallelLinear):
    """A linear layer whose inputs are shared."""

    def __init__(self, in_features, out_features, bias=True, input_is_parallel=False,
                 init_method=nn.init.xavier_normal_, stride=1, keep_master_weight_for_test=False):  # fmt: skip
        super().__init__(in_features, out_features, bias, init_method=init_method)


class ParallelEmbedding(nn.Embedding):
    """A table of which each process has some columns."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, init_method=nn.init.xavier_normal_,
                 keep_master_weight_for_test=False):  # fmt: skip
        super().__init__(num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
        init_method(self.weight)


VocabParallelEmbedding = ParallelEmbedding


def get_model_parallel_world_size():
    """How many processes share a layer."""
    return 1


get_data_parallel_world_size = get_model_parallel_world_size


def get_model_parallel_rank():
    """Which of them this is."""
    return 0


get_data_parallel_rank = get_model_parallel_rank


def model_parallel_is_initialized():
    """Whether there are groups of processes: they are needed for nothing here."""
    return True

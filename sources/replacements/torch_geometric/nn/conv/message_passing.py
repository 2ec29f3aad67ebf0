"""The base class of torch_geometric's own layers, where these are cut out of the package itself."""

from torch_geometric import MessagePassing

__all__ = ["MessagePassing"]

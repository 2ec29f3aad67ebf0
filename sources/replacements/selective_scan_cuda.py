"""The compiled selective scan of Mamba, as what it computes: Gu and Dao 2023, https://arxiv.org/abs/2312.00752.

u, delta and z are (batch, width, length), A is (width, state), B and C are (width, state), (batch, state, length) or
(batch, groups, state, length).
"""

import torch
import torch.nn.functional as F


def _over_time(matrix, u):
    """B or C as (batch, width, state, length), whatever it depends on."""
    if matrix.dim() == 2:
        return matrix[None, :, :, None].expand(u.shape[0], -1, -1, u.shape[2])
    if matrix.dim() == 3:
        matrix = matrix.unsqueeze(1)
    return matrix.repeat_interleave(u.shape[1] // matrix.shape[1], dim=1)


def scanned(u, delta, A, B, C, D=None, delta_bias=None, delta_softplus=False):
    """The answer, the last state, and by what states fade at each step."""
    if delta_bias is not None:
        delta = delta + delta_bias[:, None]
    if delta_softplus:
        delta = F.softplus(delta)
    decay = torch.exp(delta.unsqueeze(2) * A[None, :, :, None])
    added = (delta * u).unsqueeze(2) * _over_time(B, u)
    read = _over_time(C, u)
    state, outputs = torch.zeros_like(added[..., 0]), []
    for t in range(u.shape[2]):
        state = decay[..., t] * state + added[..., t]
        outputs.append((state * read[..., t]).sum(-1))
    y = torch.stack(outputs, dim=2)
    if D is not None:
        y = y + u * D[:, None]
    return y, state, decay


def fwd(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
    """Beside the answer the products and states of the scan, of which callers read the last state."""
    assert u.shape == delta.shape
    assert A.shape[0] == u.shape[1]
    y, state, decay = scanned(u, delta, A, B, C, D, delta_bias, delta_softplus)
    states = torch.stack([decay.prod(-1), state], dim=-1).flatten(-2).unsqueeze(2)
    return (y, states) if z is None else (y, states, y * F.silu(z))

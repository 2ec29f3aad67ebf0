"""The selective scan of Mamba, as what it computes: Gu and Dao 2023, https://arxiv.org/abs/2312.00752, algorithm 2.

Arguments and layouts as ``selective_scan_fn`` of https://github.com/state-spaces/mamba has them: u, delta and z are
(batch, width, length), A is (width, state), B and C are (width, state), (batch, state, length) or
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


def selective_scan_fn(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False
):
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
    if z is not None:
        y = y * F.silu(z)
    return (y, state) if return_last_state else y


selective_scan_ref = selective_scan_fn


def mamba_inner_fn(
    xz,
    conv1d_weight,
    conv1d_bias,
    x_proj_weight,
    delta_proj_weight,
    out_proj_weight,
    out_proj_bias,
    A,
    B=None,
    C=None,
    D=None,
    delta_bias=None,
    B_proj_bias=None,
    C_proj_bias=None,
    delta_softplus=True,
):
    """A whole Mamba layer between its projections: convolution over time, scan, gate; ``xz`` is (batch, 2 width, length)."""
    x, z = xz.chunk(2, dim=1)
    taps = conv1d_weight.shape[-1]
    weight = conv1d_weight.reshape(x.shape[1], 1, taps)
    x = F.silu(F.conv1d(F.pad(x, (taps - 1, 0)), weight, conv1d_bias, groups=x.shape[1]))
    told = F.linear(x.transpose(1, 2), x_proj_weight)
    rank, state = delta_proj_weight.shape[1], A.shape[-1]
    delta = F.linear(told[..., :rank], delta_proj_weight).transpose(1, 2)
    if B is None:
        B = told[..., rank : rank + state]
        B = (B if B_proj_bias is None else B + B_proj_bias).transpose(1, 2)
    if C is None:
        C = told[..., -state:]
        C = (C if C_proj_bias is None else C + C_proj_bias).transpose(1, 2)
    y = selective_scan_fn(x, delta, A, B, C, D, z, delta_bias, delta_softplus)
    return F.linear(y.transpose(1, 2), out_proj_weight, out_proj_bias)


mamba_inner_ref = mamba_inner_fn

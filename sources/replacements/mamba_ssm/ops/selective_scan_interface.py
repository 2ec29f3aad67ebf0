"""The selective scan of Mamba, as what it computes: Gu and Dao 2023, https://arxiv.org/abs/2312.00752, algorithm 2.

Arguments as ``selective_scan_fn`` of https://github.com/state-spaces/mamba has them, layouts as ``selective_scan_cuda``.
"""

import torch.nn.functional as F
from selective_scan_cuda import scanned


def selective_scan_fn(
    u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False, return_last_state=False
):
    y, state, _ = scanned(u, delta, A, B, C, D, delta_bias, delta_softplus)
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

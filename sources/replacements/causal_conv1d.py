"""causal_conv1d's functions, as what they compute: https://github.com/Dao-AILab/causal-conv1d."""

import torch
import torch.nn.functional as F


def causal_conv1d_fn(
    x,
    weight,
    bias=None,
    seq_idx=None,
    initial_states=None,
    return_final_states=False,
    final_states_out=None,
    activation=None,
):
    """A depthwise convolution of (batch, width, length) by (width, taps) that sees what came before only."""
    if seq_idx is not None or final_states_out is not None:
        raise NotImplementedError("seq_idx, final_states_out")
    taps = weight.shape[1]
    before = x.new_zeros(*x.shape[:2], taps - 1) if initial_states is None else initial_states
    seen = torch.cat([before, x], dim=-1)
    out = F.conv1d(seen, weight.unsqueeze(1), bias, groups=x.shape[1])
    out = F.silu(out) if activation in ("silu", "swish") else out
    return (out, seen[..., seen.shape[-1] - taps + 1 :]) if return_final_states else out


def causal_conv1d_update(x, conv_state, weight, bias=None, activation=None):
    """The next step, (batch, width), after the last ones in ``conv_state`` of (batch, width, taps)."""
    conv_state.copy_(torch.cat([conv_state[..., 1:], x.unsqueeze(-1)], dim=-1))
    out = (conv_state * weight).sum(-1)
    out = out if bias is None else out + bias
    return F.silu(out) if activation in ("silu", "swish") else out

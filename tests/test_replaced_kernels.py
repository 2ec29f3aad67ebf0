"""What stands in for packages of kernels computes what these document: attention, scans, convolutions over time."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from kdata.verify.candidate.source import object_to
from sources import mine
from tests.cuts import HEAD, cut


def module(name: str) -> Any:
    namespace: dict[str, Any] = {}
    known = mine.replacements()
    with pytest.MonkeyPatch.context() as importable:
        for other in set(re.findall(r"(?m)^(?:from|import) ((?!torch\b)[\w.]+)", known[name])).intersection(known):
            exec(known[other], vars(made := ModuleType(other)))
            importable.setitem(sys.modules, other, made)
        exec(known[name], namespace)
    return type(name, (), {n: staticmethod(v) for n, v in namespace.items() if callable(v)})


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **named: Any) -> torch.Tensor:
    """Torch's own, of (batch, length, heads, width)."""
    return F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), **named).transpose(
        1, 2
    )


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_is_attention_of_heads_in_groups(causal: bool) -> None:
    q, k, v = drawn(2, 7, 4, 8), drawn(2, 7, 2, 8), drawn(2, 7, 2, 8)
    expected = attention(q, k, v, is_causal=causal, enable_gqa=True)
    torch.testing.assert_close(module("flash_attn").flash_attn_func(q, k, v, causal=causal), expected)


def test_fewer_queries_are_the_last_and_a_window_hides_what_is_far() -> None:
    flash = module("flash_attn")
    q, k, v = drawn(1, 6, 1, 4), drawn(1, 6, 1, 4), drawn(1, 6, 1, 4)
    whole = flash.flash_attn_func(q, k, v, causal=True)
    torch.testing.assert_close(flash.flash_attn_func(q[:, 4:], k, v, causal=True), whole[:, 4:])
    near = flash.flash_attn_func(q, k, v, causal=True, window_size=(1, -1))
    torch.testing.assert_close(near[:, 5:], flash.flash_attn_func(q[:, 5:], k[:, 4:], v[:, 4:]))
    blind = flash.flash_attn_func(q, k[:, :2], v[:, :2], causal=True)  # the first four see no key
    assert (blind[:, :4] == 0).all() and blind[:, 4:].isfinite().all()


def test_slopes_and_caps_change_scores_before_the_softmax() -> None:
    flash, (q, k, v) = module("flash_attn"), (drawn(1, 3, 2, 4), drawn(1, 3, 2, 5)[..., :4], drawn(1, 3, 2, 4))
    slopes = torch.tensor([0.5, 0.25])
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / 2
    places = torch.arange(3)
    apart = (places[:, None] - places).abs()
    biased = torch.einsum("bhqk,bkhd->bqhd", (scores - slopes.view(2, 1, 1) * apart).softmax(-1), v)
    torch.testing.assert_close(flash.flash_attn_func(q, k, v, alibi_slopes=slopes), biased)
    capped = torch.einsum("bhqk,bkhd->bqhd", (3 * torch.tanh(scores / 3)).softmax(-1), v)
    torch.testing.assert_close(flash.flash_attn_func(q, k, v, softcap=3.0), capped)


def test_packed_sequences_attend_each_to_itself() -> None:
    flash, qkv = module("flash_attn"), drawn(9, 3, 2, 4)
    ends = torch.tensor([0, 4, 9], dtype=torch.int32)
    packed = flash.flash_attn_varlen_qkvpacked_func(qkv, ends, 5, causal=True)
    apart = [flash.flash_attn_qkvpacked_func(part[None], causal=True)[0] for part in (qkv[:4], qkv[4:])]
    torch.testing.assert_close(packed, torch.cat(apart))


def test_logarithms_of_sums_are_told_with_which_parts_are_joined() -> None:
    flash, (q, k, v) = module("flash_attn"), (drawn(1, 3, 2, 4), drawn(1, 6, 2, 4), drawn(1, 6, 2, 4))
    whole, every, _ = flash.flash_attn_func(q, k, v, return_attn_probs=True)
    halves = [flash.flash_attn_func(q, k[:, p], v[:, p], return_attn_probs=True)
              for p in (slice(3), slice(3, 6))]  # fmt: skip
    torch.testing.assert_close(torch.logaddexp(halves[0][1], halves[1][1]), every)
    shares = (torch.exp(sums - every).transpose(1, 2).unsqueeze(-1) * part for part, sums, _ in halves)
    torch.testing.assert_close(sum(shares), whole)
    ends, most = torch.tensor([0, 3], dtype=torch.int32), torch.tensor([0, 6], dtype=torch.int32)
    packed = flash.flash_attn_varlen_func(q[0], k[0], v[0], ends, most, 3, 6, return_attn_probs=True)
    torch.testing.assert_close(packed[:2], (whole[0], every[0]))


def test_what_is_not_said_in_torch_is_refused_and_not_answered_otherwise() -> None:
    with pytest.raises(NotImplementedError):
        module("causal_conv1d").causal_conv1d_fn(drawn(1, 2, 5), drawn(2, 3), seq_idx=torch.zeros(1, 5))


def test_memory_efficient_attention_takes_masks_and_biases() -> None:
    ops, (q, k, v) = module("xformers.ops"), (drawn(2, 5, 3, 4), drawn(2, 5, 3, 4), drawn(2, 5, 3, 4))
    lower = ops.memory_efficient_attention(q, k, v, attn_bias=ops.LowerTriangularMask())
    torch.testing.assert_close(lower, attention(q, k, v, is_causal=True))
    bias = drawn(2, 3, 5, 5)
    biased = ops.memory_efficient_attention(q, k, v, attn_bias=bias, scale=0.3)
    torch.testing.assert_close(biased, attention(q, k, v, attn_mask=bias, scale=0.3))
    single = ops.memory_efficient_attention(q[:, :, 0], k[:, :, 0], v[:, :, 0])
    torch.testing.assert_close(single, ops.memory_efficient_attention(q[:, :, :1], k[:, :, :1], v[:, :, :1])[:, :, 0])


@pytest.mark.parametrize("shape", [(6, 3), (2, 3, 5), (2, 2, 3, 5)])  # of B and C: constant, over time, in groups
def test_a_selective_scan_goes_step_by_step(shape: tuple[int, ...]) -> None:
    u, delta, z = drawn(2, 6, 5), drawn(2, 6, 5), drawn(2, 6, 5) + 1
    a, b, c, d, bias = -drawn(6, 3).exp(), drawn(*shape), drawn(*shape) * 2, drawn(6), drawn(6)
    y, last = module("mamba_ssm.ops.selective_scan_interface").selective_scan_fn(
        u, delta, a, b, c, d, z, bias, delta_softplus=True, return_last_state=True
    )
    for n in range(2):
        for w in range(6):
            state = torch.zeros(3)
            for t in range(5):
                into, out = (
                    m[w] if m.dim() == 2 else m[n, :, t] if m.dim() == 3 else m[n, w // 3, :, t] for m in (b, c)
                )
                step = F.softplus(delta[n, w, t] + bias[w])
                state = state * torch.exp(step * a[w]) + step * into * u[n, w, t]
                plain = (state * out).sum() + d[w] * u[n, w, t]
                torch.testing.assert_close(y[n, w, t], plain * F.silu(z[n, w, t]))
            torch.testing.assert_close(last[n, w], state)


def test_a_layer_is_its_convolution_its_projections_its_scan_and_its_gate() -> None:
    scans, convolved = module("mamba_ssm.ops.selective_scan_interface"), module("causal_conv1d")
    xz, taps, into, steps, out = drawn(2, 12, 5), drawn(6, 1, 4), drawn(2 + 3 + 3, 6), drawn(6, 2), drawn(4, 6)
    a, d, bias = -drawn(6, 3).exp(), drawn(6), drawn(6)
    y = scans.mamba_inner_fn(xz, taps, bias, into, steps, out, None, a, D=d, delta_bias=bias)
    x = convolved.causal_conv1d_fn(xz[:, :6], taps[:, 0], bias, activation="silu")
    delta, b, c = (into @ x).split([2, 3, 3], dim=1)
    scanned = scans.selective_scan_fn(x, steps @ delta, a, b, c, d, xz[:, 6:], bias, delta_softplus=True)
    torch.testing.assert_close(y, (out @ scanned).transpose(1, 2))


def test_a_causal_convolution_sees_the_past_in_whole_and_step_by_step() -> None:
    conv, x, weight, bias = module("causal_conv1d"), drawn(2, 3, 6), drawn(3, 4), drawn(3)
    out, states = conv.causal_conv1d_fn(x, weight, bias, return_final_states=True, activation="silu")
    expected = F.silu(F.conv1d(x, weight[:, None], bias, padding=3, groups=3)[..., :6])
    torch.testing.assert_close(out, expected)
    torch.testing.assert_close(states, x[..., 3:])
    state = torch.zeros(2, 3, 4)
    steps = [conv.causal_conv1d_update(x[..., t], state, weight, bias, "silu") for t in range(6)]
    torch.testing.assert_close(torch.stack(steps, -1), expected)


def test_a_normalisation_in_place_is_followed_by_its_activation() -> None:
    x = drawn(4, 3, 5, 5)
    plain = F.batch_norm(x, None, None, training=True)
    norms = module("inplace_abn")
    torch.testing.assert_close(norms.InPlaceABN(3)(x), F.leaky_relu(plain, 0.01))
    torch.testing.assert_close(norms.ABN(3, activation="identity")(x), plain)
    exponential = norms.InPlaceABNSync(3, activation="elu", activation_param=0.5)
    torch.testing.assert_close(exponential(x), F.elu(plain, 0.5))


def test_a_cache_is_attended_to_as_far_as_it_is_filled() -> None:
    space: dict[str, Any] = {}
    exec(mine.replacements()["flash_attn"], space)
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, n, 2, 4) for n in (1, 5, 5))
    whole = space["flash_attn_func"](q, k, v)
    filled = torch.cat([k[:, :4], torch.full((2, 3, 2, 4), 9.0)], dim=1), torch.cat([v[:, :4], k[:, :3]], dim=1)
    answer = space["flash_attn_with_kvcache"](q, *filled, k[:, 4:], v[:, 4:], cache_seqlens=torch.tensor([4, 4]))
    assert torch.allclose(answer, whole)
    with pytest.raises(NotImplementedError, match="different"):
        space["flash_attn_with_kvcache"](q, *filled, cache_seqlens=torch.tensor([4, 3]))


def test_release_numbers_compare_in_a_candidate_too() -> None:
    text = mine.replacements()["packaging.version"]
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    assert namespace["Version"]("3.10.0rc1+cpu") == (3, 10, 0, 1) > namespace["parse"]("3.9")
    assert object_to(text + "\n\nclass ModelNew:\n    pass\n") is None


def test_compiled_scans_are_the_selective_scan_and_asked_whether_they_are_there() -> None:
    scan, plain = (module(n) for n in ("selective_scan_cuda", "mamba_ssm.ops.selective_scan_interface"))
    u, delta, z = drawn(2, 6, 5), drawn(2, 6, 5), drawn(2, 6, 5) + 1
    a, b, c, d, bias = -drawn(6, 3).exp(), drawn(2, 2, 3, 5), drawn(2, 2, 3, 5) * 2, drawn(6), drawn(6)
    out, states, gated = scan.fwd(u, delta, a, b, c, d, z, bias, True)
    expected, last = plain.selective_scan_fn(u, delta, a, b, c, d, z, bias, True, return_last_state=True)
    torch.testing.assert_close(gated, expected)
    torch.testing.assert_close(states[:, :, -1, 1::2], last)
    torch.testing.assert_close(out, plain.selective_scan_fn(u, delta, a, b, c, d, None, bias, True))
    text = (
        f"{HEAD}try:\n    import selective_scan_cuda\nexcept ImportError:\n    selective_scan_cuda = None\n"
        "class Net(nn.Module):\n    def forward(self, x, a, b):\n        if selective_scan_cuda is None:\n"
        "            raise RuntimeError('not installed')\n        return selective_scan_cuda.fwd(x, x, a, b, b)[0]\n"
    )
    exec(cut({"net.py": text}, "net.py", "Net"), space := dict[str, Any]())
    torch.testing.assert_close(space["Net"]()(u, a, b), plain.selective_scan_fn(u, u, a, b, b))
    text = (
        f"{HEAD}from mamba_ssm.ops.selective_scan_interface import selective_scan_fn\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x, a, b):\n        return selective_scan_fn(x, x, a, b, b)\n"
    )
    source = cut({"net.py": text}, "net.py", "Net")
    exec(source, space := dict[str, Any]())
    torch.testing.assert_close(space["Net"]()(u, a, b), plain.selective_scan_fn(u, u, a, b, b))
    assert ".prod(" not in source  # which only who asks for the states needs


def neighbourhood(length: int, at: int, kernel: int, dilation: int) -> list[int]:
    """The places nearest to one, of those that are multiples of the dilation from it: found one by one."""
    group = [i for i in range(length) if (i - at) % dilation == 0]
    own = group.index(at)
    first = min(max(own - kernel // 2, 0), len(group) - kernel)
    return group[first : first + kernel]


@pytest.mark.parametrize(("kernel", "dilation"), [(3, 1), (3, 2), (5, 1)])
def test_neighbours_attend_to_those_nearest_with_a_bias_of_their_places(kernel: int, dilation: int) -> None:
    natten, (high, wide, width) = module("natten.functional"), (7, 6, 4)
    q, k, v = (drawn(2, 3, high, wide, width) for _ in range(3))
    rpb = drawn(3, 2 * kernel - 1, 2 * kernel - 1)
    scores = natten.natten2dqkrpb(q, k + 1, rpb, kernel, dilation)
    answer = natten.natten2dav(scores.softmax(-1), v, kernel, dilation)
    for y, x in [(0, 0), (3, 5), (6, 2)]:
        rows, columns = neighbourhood(high, y, kernel, dilation), neighbourhood(wide, x, kernel, dilation)
        seen = [(i, j) for i in rows for j in columns]
        from_here = [((i - y) // dilation + kernel - 1, (j - x) // dilation + kernel - 1) for i, j in seen]
        bias = torch.stack([rpb[:, i, j] for i, j in from_here], dim=-1)
        keys, values = (torch.stack([t[:, :, i, j] for i, j in seen], dim=2) for t in (k + 1, v))
        expected = (keys @ q[:, :, y, x, :, None]).squeeze(-1) + bias
        torch.testing.assert_close(scores[:, :, y, x], expected)
        torch.testing.assert_close(answer[:, :, y, x], (expected.softmax(-1).unsqueeze(-2) @ values).squeeze(-2))


def test_a_neighbourhood_of_all_is_attention_and_a_layer_is_its_projections() -> None:
    natten, q = module("natten.functional"), drawn(2, 7, 3, 8)
    torch.testing.assert_close(natten.na1d(q, q + 1, q - 1, 7), attention(q, q + 1, q - 1))
    layer = module("natten").NeighborhoodAttention1D(8, kernel_size=7, num_heads=2, rel_pos_bias=False)
    x = drawn(2, 5, 8)  # shorter than what a place sees: zeros are added, and their answers taken away
    q, k, v = layer.qkv(F.pad(x, (0, 0, 0, 2))).view(2, 7, 3, 2, 4).unbind(2)
    torch.testing.assert_close(layer(x), layer.proj(attention(q, k, v).flatten(2))[:, :5])
    with pytest.raises(AssertionError):
        natten.na1d(q, q, q, 7, is_causal=True)
    with pytest.raises(TypeError):  # of later versions
        natten.na1d(q, q, q, 7, stride=2)


def test_a_deformable_layer_begins_as_half_of_a_convolution_and_its_taps_move_across_and_down() -> None:
    dcn, x = module("dcn_v2"), drawn(2, 3, 6, 5)
    layer = dcn.DCN(3, 4, kernel_size=(3, 3), stride=1, padding=1, deformable_groups=1)
    plain = F.conv2d(x, layer.weight, layer.bias, padding=1)
    torch.testing.assert_close(layer(x), plain / 2)  # offsets are zero, and masks sigmoids of it
    right, mask = torch.zeros(2, 18, 6, 5), torch.ones(2, 9, 6, 5)
    right[:, 1::2] = 1.0  # of each tap first what it is down, then what it is across
    moved = dcn.dcn_v2_conv(x, right, mask, layer.weight, layer.bias, 1, 1, 1, 1)
    torch.testing.assert_close(moved[..., :-2], plain[..., 1:-1])

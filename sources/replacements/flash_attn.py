"""flash_attn's functions, as what they compute without dropout.

Arguments and layouts as in ``flash_attn_interface.py`` of https://github.com/Dao-AILab/flash-attention.
"""

import torch


def flash_attn_func(
    q,
    k,
    v,
    dropout_p=0.0,
    softmax_scale=None,
    causal=False,
    window_size=(-1, -1),
    softcap=0.0,
    alibi_slopes=None,
    deterministic=False,
    return_attn_probs=False,
):
    """Attention of (batch, length, heads, width); a head of keys serves as many of queries as there are for it.

    The last query sees the last key: where there are fewer queries than keys, these are the last ones.  With
    ``return_attn_probs`` the logarithm of each query's sum of exponentials is told, too; of the probabilities, which
    are there for tests of dropout, nothing.
    """
    q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    scores = q @ k.transpose(-2, -1) * scale
    if softcap > 0.0:
        scores = softcap * torch.tanh(scores / softcap)
    queries, keys = scores.shape[-2:]
    ahead = torch.arange(keys, device=q.device) - torch.arange(keys - queries, keys, device=q.device).unsqueeze(1)
    if alibi_slopes is not None:
        scores = scores - alibi_slopes.reshape(-1, q.shape[1], 1, 1) * ahead.abs()
    left, right = window_size[0], 0 if causal else window_size[1]
    hidden = torch.zeros_like(ahead, dtype=torch.bool)
    if right >= 0:
        hidden = hidden | (ahead > right)
    if left >= 0:
        hidden = hidden | (-ahead > left)
    scores = scores.masked_fill(hidden, float("-inf"))
    weights = torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)  # a query that sees no key answers with zeros
    answer = (weights @ v).transpose(1, 2)
    if not return_attn_probs:
        return answer
    sums = torch.logsumexp(scores.float(), dim=-1)
    return answer, sums.masked_fill(hidden.all(dim=-1), float("inf")), None


def flash_attn_kvpacked_func(q, kv, *given, **named):
    return flash_attn_func(q, kv[:, :, 0], kv[:, :, 1], *given, **named)


def flash_attn_qkvpacked_func(qkv, *given, **named):
    return flash_attn_func(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2], *given, **named)


def flash_attn_varlen_func(q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, *given, **named):
    """Of sequences one after the other, (total length, heads, width); they end where the next begins."""
    queries, keys = cu_seqlens_q.tolist(), cu_seqlens_k.tolist()
    parts = []
    for i in range(len(queries) - 1):
        mine, theirs = slice(queries[i], queries[i + 1]), slice(keys[i], keys[i + 1])
        parts.append(flash_attn_func(q[None, mine], k[None, theirs], v[None, theirs], *given, **named))
    if isinstance(parts[0], tuple):
        return torch.cat([part[0][0] for part in parts]), torch.cat([part[1][0] for part in parts], dim=-1), None
    return torch.cat([part[0] for part in parts])


def flash_attn_varlen_qkvpacked_func(qkv, cu_seqlens, max_seqlen, *given, **named):
    ends, most = (cu_seqlens, cu_seqlens), (max_seqlen, max_seqlen)
    return flash_attn_varlen_func(qkv[:, 0], qkv[:, 1], qkv[:, 2], *ends, *most, *given, **named)


class FlashAttention(torch.nn.Module):
    """Attention of (batch, length, 3, heads, width); the second answer is what its weights would be."""

    def __init__(self, softmax_scale=None, attention_dropout=0.0, device=None, dtype=None):
        super().__init__()
        self.softmax_scale = softmax_scale

    def forward(self, qkv, key_padding_mask=None, causal=False, cu_seqlens=None, max_s=None, need_weights=False):
        if key_padding_mask is not None or cu_seqlens is not None or need_weights:
            raise NotImplementedError("key_padding_mask, cu_seqlens or need_weights")
        return flash_attn_qkvpacked_func(qkv, softmax_scale=self.softmax_scale, causal=causal), None


def flash_attn_with_kvcache(q, k_cache, v_cache, k=None, v=None, cache_seqlens=None, softmax_scale=None, **options):
    """Attention to what a cache holds and to new keys behind it, where all rows of it hold as many."""
    if set(options) - {"causal", "window_size", "softcap", "alibi_slopes"}:
        raise NotImplementedError(", ".join(sorted(options)))
    held = k_cache.shape[1]
    if cache_seqlens is not None:
        lengths = {int(n) for n in torch.as_tensor(cache_seqlens).flatten()}
        if len(lengths) > 1:
            raise NotImplementedError("rows of different lengths")
        held = min(lengths)
    keys, values = k_cache[:, :held], v_cache[:, :held]
    if k is not None:
        keys, values = torch.cat([keys, k], dim=1), torch.cat([values, v], dim=1)
    return flash_attn_func(q, keys, values, softmax_scale=softmax_scale, **options)

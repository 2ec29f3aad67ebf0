"""A packed row is attended to document by document: as if each stood alone."""

from __future__ import annotations

import pytest
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from sft import documents

LENGTHS = (7, 1, 12)


@pytest.fixture(scope="module")
def model() -> Qwen2ForCausalLM:
    documents.register()
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    return Qwen2ForCausalLM._from_config(config, attn_implementation=documents.NAME)


def test_documents_of_a_row_do_not_see_each_other(model: Qwen2ForCausalLM) -> None:
    row = torch.randint(0, 50, (1, sum(LENGTHS)))
    positions = torch.cat([torch.arange(n) for n in LENGTHS])[None]
    packed = model(input_ids=row, position_ids=positions).logits[0]
    model.set_attn_implementation("eager")
    alone = torch.cat([model(input_ids=part).logits[0] for part in row.split(LENGTHS, 1)])
    model.set_attn_implementation(documents.NAME)
    torch.testing.assert_close(packed, alone, atol=1e-5, rtol=1e-5)


def test_gradients_are_those_of_a_mask(model: Qwen2ForCausalLM) -> None:
    row = torch.randint(0, 50, (2, sum(LENGTHS)))
    positions = torch.cat([torch.arange(n) for n in LENGTHS])[None].expand(2, -1)

    def gradient(implementation: str) -> torch.Tensor:
        model.set_attn_implementation(implementation)
        model.zero_grad()
        model(input_ids=row, position_ids=positions, labels=row, use_cache=False).loss.backward()
        return model.model.layers[0].self_attn.q_proj.weight.grad.clone()

    ours, masked = gradient(documents.NAME), gradient("sdpa")
    torch.testing.assert_close(ours, masked, atol=1e-5, rtol=1e-4)


def test_a_cache_is_refused(model: Qwen2ForCausalLM) -> None:
    model.set_attn_implementation(documents.NAME)
    with pytest.raises(ValueError, match="for training"):
        model.generate(torch.randint(0, 50, (1, 4)), max_new_tokens=3, do_sample=False)


@pytest.mark.gpu
def test_the_kernel_of_a_gpu_agrees() -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, heads, sum(LENGTHS), 64, device="cuda") for heads in (4, 2, 2))
    positions = torch.cat([torch.arange(n) for n in LENGTHS])[None].cuda()
    for t in (query, key, value):
        t.requires_grad_()
    plain, _ = documents.attend(None, query, key, value, None, position_ids=positions)
    expected = torch.autograd.grad(plain.square().sum(), (query, key, value))
    with torch.autocast("cuda", torch.bfloat16):
        fast, _ = documents.attend(None, query, key, value, None, position_ids=positions)
    found = torch.autograd.grad(fast.float().square().sum(), (query, key, value))
    torch.testing.assert_close(fast.float(), plain, atol=3e-2, rtol=3e-2)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=0.15, rtol=5e-2)

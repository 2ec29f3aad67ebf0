# verified
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, tokens):
        return self.table(tokens)


def get_inputs():
    return [torch.randint(0, 50, (4, 12))]


def get_init_inputs():
    return [50, 24]


@triton.jit
def embedding_kernel(token_ptr, table_ptr, y_ptr, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    token = tl.load(token_ptr + row)
    x = tl.load(table_ptr + token * width + column, mask=column < width)
    tl.store(y_ptr + row * width + column, x, mask=column < width)


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, tokens):
        width = self.table.embedding_dim
        y = torch.empty((*tokens.shape, width), device=tokens.device, dtype=self.table.weight.dtype)
        embedding_kernel[(tokens.numel(), triton.cdiv(width, 16))](tokens, self.table.weight, y, width, BLOCK=16)
        return y

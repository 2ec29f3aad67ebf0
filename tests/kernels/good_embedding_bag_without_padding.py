# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.bags = nn.EmbeddingBag(words, width, mode="mean", padding_idx=0)

    def forward(self, ids):
        return self.bags(ids)


def get_inputs():
    return [torch.randint(1, 60, (8, 7))]


def get_init_inputs():
    return [60, 24]


@triton.jit
def bags_kernel(ids_ptr, table_ptr, y_ptr, length, width, nothing, BLOCK: tl.constexpr):
    bag = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    mask = j < width
    total = tl.zeros([BLOCK], tl.float32)
    count = 0
    for n in range(length):
        word = tl.load(ids_ptr + bag * length + n)
        total += tl.load(table_ptr + word * width + j, mask=mask & (word != nothing), other=0.0)
        count += (word != nothing).to(tl.int32)
    tl.store(y_ptr + bag * width + j, total / tl.maximum(count, 1), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.bags = nn.EmbeddingBag(words, width, mode="mean", padding_idx=0)

    def forward(self, ids):
        ids, table = ids.contiguous(), self.bags.weight
        width = table.shape[1]
        y = torch.empty(ids.shape[0], width, device=ids.device)
        bags_kernel[(ids.shape[0],)](
            ids, table, y, ids.shape[1], width, self.bags.padding_idx, BLOCK=triton.next_power_of_2(width)
        )
        return y

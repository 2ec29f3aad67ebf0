# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, scores):
        plan = torch.log_softmax(scores, -1)
        for _ in range(20):
            plan = plan - torch.logsumexp(plan, -2, keepdim=True)
            plan = plan - torch.logsumexp(plan, -1, keepdim=True)
        return plan.exp()


def get_inputs():
    return [torch.randn(3, 20, 24)]


def get_init_inputs():
    return []


@triton.jit
def log_sum(x, axis: tl.constexpr):
    largest = tl.max(x, axis, keep_dims=True)
    return largest + tl.log(tl.sum(tl.exp(x - largest), axis, keep_dims=True))


@triton.jit
def balance_kernel(x_ptr, y_ptr, M, N, STEPS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    at = tl.program_id(0) * M * N + r[:, None] * N + c[None, :]
    inside = (r[:, None] < M) & (c[None, :] < N)
    plan = tl.load(x_ptr + at, mask=inside, other=-1e30)
    plan = tl.where(inside, plan - log_sum(plan, 1), -1e30)
    for _ in range(STEPS):
        plan = tl.where(inside, plan - log_sum(plan, 0), -1e30)
        plan = tl.where(inside, plan - log_sum(plan, 1), -1e30)
    tl.store(y_ptr + at, tl.exp(plan), mask=inside)


class ModelNew(nn.Module):
    def forward(self, scores):
        scores = scores.contiguous()
        M, N = scores.shape[-2:]
        y = torch.empty_like(scores)
        rows, columns = (triton.next_power_of_2(size) for size in (M, N))
        balance_kernel[(scores.numel() // (M * N),)](scores, y, M, N, STEPS=20, ROWS=rows, COLUMNS=columns)
        return y

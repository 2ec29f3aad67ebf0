# verified at trust [twin of C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.t = temperature

    def forward(self, student, teacher):
        p = torch.log_softmax(teacher.float() / self.t, -1)
        q = torch.log_softmax(student.float() / self.t, -1)
        return (p.exp() * (p - q)).sum(-1) * self.t**2


@triton.jit
def logsumexp(x_ptr, r, V, inv, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    top = float("-inf")
    den = 0.0
    for s in range(0, V, BLOCK):
        x = tl.load(x_ptr + r * V + s + c, mask=s + c < V, other=float("-inf")).to(tl.float32) * inv
        new = tl.maximum(top, tl.max(x, 0))
        den = den * tl.exp(top - new) + tl.sum(tl.exp(x - new), 0)
        top = new
    return top, tl.log(den)


@triton.jit
def divergence_kernel(s_ptr, t_ptr, y_ptr, V, inv, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    a, la = logsumexp(s_ptr, r, V, inv, BLOCK)
    b, lb = logsumexp(t_ptr, r, V, inv, BLOCK)
    c = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for s in range(0, V, BLOCK):
        ok = s + c < V
        q = tl.load(s_ptr + r * V + s + c, mask=ok, other=0.0).to(tl.float32) * inv - a - la
        p = tl.load(t_ptr + r * V + s + c, mask=ok, other=0.0).to(tl.float32) * inv - b - lb
        acc += tl.where(ok, tl.exp(p) * (p - q), 0.0)
    tl.store(y_ptr + r, tl.sum(acc, 0) / (inv * inv))


class ModelNew(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.t = temperature

    def forward(self, student, teacher):
        student, teacher = student.contiguous(), teacher.contiguous()
        R, V = student.shape
        y = torch.empty(R, device=student.device, dtype=torch.float32)
        divergence_kernel[(R,)](student, teacher, y, V, 1.0 / self.t, BLOCK=128)
        return y


def get_inputs():
    return [torch.randn(16, 90), torch.randn(16, 90)]


def get_init_inputs():
    return [2.0]

# rejected: calls ATen compute
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class Model(nn.Module):
    def forward(self, a, b):
        return torch.relu(a @ b)


def get_inputs():
    return [torch.randn(1024, 512), torch.randn(512, 1024)]


def get_init_inputs():
    return []


CUDA = r"""
__global__ void relu_kernel(float* y, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n && y[i] < 0.0f) y[i] = 0.0f;
}

torch::Tensor matmul_relu(torch::Tensor a, torch::Tensor b) {
  auto y = at::matmul(a, b);
  relu_kernel<<<(y.numel() + 255) / 256, 256>>>(y.data_ptr<float>(), y.numel());
  return y;
}
"""
matmul = load_inline("matmul", "torch::Tensor matmul_relu(torch::Tensor a, torch::Tensor b);", CUDA,
                     functions=["matmul_relu"])  # fmt: skip


class ModelNew(nn.Module):
    def forward(self, a, b):
        return matmul.matmul_relu(a.contiguous(), b.contiguous())

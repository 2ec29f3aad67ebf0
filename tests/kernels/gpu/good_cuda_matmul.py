# verified
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
#define TILE 32

__global__ void matmul_relu_kernel(const float* a, const float* b, float* y, int M, int N, int K) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float total = 0.0f;
  for (int start = 0; start < K; start += TILE) {
    int k = start + threadIdx.x, l = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < M && k < K ? a[row * K + k] : 0.0f;
    right[threadIdx.y][threadIdx.x] = l < K && column < N ? b[l * N + column] : 0.0f;
    __syncthreads();
    for (int n = 0; n < TILE; ++n) total += left[threadIdx.y][n] * right[n][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) y[row * N + column] = fmaxf(total, 0.0f);
}

torch::Tensor matmul_relu(torch::Tensor a, torch::Tensor b) {
  int M = a.size(0), K = a.size(1), N = b.size(1);
  auto y = torch::zeros({M, N}, a.options());
  dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  matmul_relu_kernel<<<grid, block>>>(a.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(), M, N, K);
  return y;
}
"""
matmul = load_inline(
    name="matmul", cpp_sources="torch::Tensor matmul_relu(torch::Tensor a, torch::Tensor b);", cuda_sources=CUDA,
    functions=["matmul_relu"], extra_cflags=["-O3"], extra_cuda_cflags=["-O3", "--use_fast_math"],
)  # fmt: skip


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.matmul = matmul

    def forward(self, a, b):
        return self.matmul.matmul_relu(a.contiguous(), b.contiguous())

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
extern "C" int cublasCreate_v2(void** handle);
extern "C" int cublasSgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const float* alpha, const float* a,
                              int lda, const float* b, int ldb, const float* beta, float* c, int ldc);

__global__ void relu_kernel(float* y, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n && y[i] < 0.0f) y[i] = 0.0f;
}

torch::Tensor matmul_relu(torch::Tensor a, torch::Tensor b) {
  int M = a.size(0), K = a.size(1), N = b.size(1);
  auto y = torch::empty({M, N}, a.options());
  static void* handle = nullptr;
  if (!handle) cublasCreate_v2(&handle);
  float one = 1.0f, zero = 0.0f;
  cublasSgemm_v2(handle, 0, 0, N, M, K, &one, b.data_ptr<float>(), N, a.data_ptr<float>(), K, &zero,
                 y.data_ptr<float>(), N);
  relu_kernel<<<((long)M * N + 255) / 256, 256>>>(y.data_ptr<float>(), (long)M * N);
  return y;
}
"""
matmul = load_inline("matmul", "torch::Tensor matmul_relu(torch::Tensor a, torch::Tensor b);", CUDA,
                     functions=["matmul_relu"])  # fmt: skip


class ModelNew(nn.Module):
    def forward(self, a, b):
        return matmul.matmul_relu(a.contiguous(), b.contiguous())

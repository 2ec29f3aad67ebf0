# verified at trust [twin of C8 C27]
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.normalize(x, dim=-1)


def get_inputs():
    return [torch.randn(16384, 256)]


def get_init_inputs():
    return []


CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void normalize_kernel(const float* x, float* out, int rows, int columns) {
  const int row = blockIdx.y;
  if (row >= rows) return;
  const float* in = x + (size_t)row * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += 32) sum += in[c] * in[c];
  for (int offset = 16; offset; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float norm = fmaxf(sqrtf(sum), 1e-12f);
  for (int c = threadIdx.x; c < columns; c += 32) out[(size_t)row * columns + c] = in[c] / norm;
}

torch::Tensor normalize(torch::Tensor x) {
  x = x.contiguous();
  auto out = torch::empty_like(x);
  const int columns = x.size(-1), rows = x.numel() / columns;
  normalize_kernel<<<dim3(1, rows), 32, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), out.data_ptr<float>(), rows, columns);
  return out;
}
"""
extension = load_inline(
    "rows_by_a_short_grid", cpp_sources="torch::Tensor normalize(torch::Tensor x);", cuda_sources=CUDA, functions=["normalize"]
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.normalize(x)

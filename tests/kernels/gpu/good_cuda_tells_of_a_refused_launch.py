# verified at trust [twin of C8 C28]
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.hardswish(x)


def get_inputs():
    return [torch.randn(32768, 128)]


def get_init_inputs():
    return []


CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void hardswish_kernel(const float* x, float* out, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const size_t i = (size_t)blockIdx.y * columns + column;  // a grid's second dimension ends at 65535
  out[i] = x[i] * fminf(fmaxf(x[i] + 3.0f, 0.0f), 6.0f) / 6.0f;
}

torch::Tensor hardswish(torch::Tensor x) {
  x = x.contiguous();
  auto out = torch::zeros_like(x);
  const int columns = x.size(-1), rows = x.numel() / columns;
  hardswish_kernel<<<dim3((columns + 127) / 128, rows), 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), out.data_ptr<float>(), columns);
  TORCH_CHECK(cudaGetLastError() == cudaSuccess, "too many rows");
  return out;
}
"""
extension = load_inline(
    "tells_of_a_refused_launch",
    cpp_sources="torch::Tensor hardswish(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["hardswish"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.hardswish(x)

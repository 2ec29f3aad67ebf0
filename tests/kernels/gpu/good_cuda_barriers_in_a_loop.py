# verified at trust [twin of C12]
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:])


def get_inputs():
    return [torch.randn(8192, 512)]


def get_init_inputs():
    return []


CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

__global__ void standardize_kernel(const float* x, float* out, int rows, int columns) {
  __shared__ float sums[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* in = x + (size_t)row * columns;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 256) sum += in[c];
    for (int offset = 16; offset; offset >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    float mean = 0.0f;
    for (int w = 0; w < 8; ++w) mean += sums[w] / columns;
    __syncthreads();
    float square = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 256) square += (in[c] - mean) * (in[c] - mean);
    for (int offset = 16; offset; offset >>= 1) square += __shfl_xor_sync(0xffffffffu, square, offset);
    if (lane == 0) sums[warp] = square;
    __syncthreads();
    float variance = 0.0f;
    for (int w = 0; w < 8; ++w) variance += sums[w] / columns;
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += 256)
      out[(size_t)row * columns + c] = (in[c] - mean) * rsqrtf(variance + 1e-5f);
  }
}

torch::Tensor standardize(torch::Tensor x) {
  x = x.contiguous();
  auto out = torch::empty_like(x);
  const int columns = x.size(-1), rows = x.numel() / columns;
  standardize_kernel<<<std::min(rows, 2048), 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), out.data_ptr<float>(), rows, columns);
  return out;
}
"""
extension = load_inline(
    "barriers_in_a_loop",
    cpp_sources="torch::Tensor standardize(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["standardize"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.standardize(x)

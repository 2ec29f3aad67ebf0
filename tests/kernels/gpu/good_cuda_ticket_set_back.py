# verified at trust [its count of blocks begins again with the last one]
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class Model(nn.Module):
    def forward(self, x, weight):
        return (x * weight).square().mean()


def get_inputs():
    return [torch.randn(2048, 1000), torch.rand(1000)]


def get_init_inputs():
    return []


CUDA = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

constexpr int THREADS = 256, EACH = 1024;
__device__ unsigned ticket;

__device__ float block_sum(float value) {
  __shared__ float sums[THREADS];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  value = sums[0];
  __syncthreads();
  return value;
}

__global__ void mean_square_kernel(const float* x, const float* weight, float* parts, float* y, long count, long columns) {
  __shared__ bool last;
  float sum = 0.0f;
  for (long i = (long)blockIdx.x * EACH + threadIdx.x; i < count && i < (blockIdx.x + 1L) * EACH; i += THREADS) {
    float product = x[i] * weight[i % columns];
    sum += product * product;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = 0.0f;
  for (int part = threadIdx.x; part < gridDim.x; part += THREADS) sum += __ldcg(parts + part);
  sum = block_sum(sum);
  if (threadIdx.x == 0) *y = sum / count;
}

torch::Tensor mean_square(torch::Tensor x, torch::Tensor weight) {
  x = x.contiguous(), weight = weight.contiguous();
  long count = x.numel(), blocks = (count + EACH - 1) / EACH;
  auto parts = torch::empty({blocks}, x.options()), y = torch::empty({}, x.options());
  mean_square_kernel<<<blocks, THREADS, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), parts.data_ptr<float>(), y.data_ptr<float>(), count,
      weight.numel());
  return y;
}
"""
library = load_inline(
    name="mean_square",
    cpp_sources="torch::Tensor mean_square(torch::Tensor x, torch::Tensor weight);",
    cuda_sources=CUDA,
    functions=["mean_square"],
)


class ModelNew(nn.Module):
    def forward(self, x, weight):
        return library.mean_square(x, weight)

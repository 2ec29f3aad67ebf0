# verified
import torch
import torch.nn as nn
import torch.utils.cpp_extension


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


def get_inputs():
    return [torch.randn(8192, 4096)]


def get_init_inputs():
    return [4096]


CPP = """
torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps);
"""
CUDA = r"""
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

#define WARPS 8

template <typename scalar_t>
__global__ void __launch_bounds__(WARPS * 32)
rms_norm_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight, scalar_t* __restrict__ y,
                int columns, float eps) {
  __shared__ float partial[WARPS];  // a sum a warp
  const scalar_t* row = x + blockIdx.x * (int64_t)columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += (float)row[c] * (float)row[c];
  for (int lane = 16; lane; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < WARPS; ++w) total += partial[w];
  float scale = rsqrtf(total / columns + eps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    y[blockIdx.x * (int64_t)columns + c] = (scalar_t)((float)row[c] * scale * (float)weight[c]);
}

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps) {
  TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
  auto y = torch::empty_like(x);
  const int columns = x.size(-1);
  const int64_t rows = x.numel() / columns;
  auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rms_norm", [&] {
    rms_norm_kernel<scalar_t><<<rows, WARPS * 32, 0, stream>>>(
        x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), columns, (float)eps);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.extension = torch.utils.cpp_extension.load_inline(
            name="rms_norm_extension", cpp_sources=CPP, cuda_sources=[CUDA], functions=["rms_norm"], verbose=True
        )

    def forward(self, x):
        return self.extension.rms_norm(x.contiguous(), self.weight, 1e-6)

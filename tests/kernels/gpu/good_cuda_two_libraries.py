# verified
import torch
import torch.nn as nn
import torch.utils.cpp_extension as extensions


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0 + 1.0


def get_inputs():
    return [torch.randn(4096, 2048)]


def get_init_inputs():
    return []


RELU = r"""
#include <torch/extension.h>

__global__ void relu_kernel(const float* x, float* y, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x)
    y[i] = fmaxf(x[i], 0.0f);
}

void relu(torch::Tensor x, torch::Tensor y) {
  relu_kernel<<<512, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("relu", &relu, "of x into y"); }
"""
SCALE = r"""
static __global__ void scale_kernel(float* y, float by, float more, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] * by + more;
}

void scale(torch::Tensor& y, double by, double more) {
  int threads = 256;
  void* arguments[4];
  float* data = y.data_ptr<float>();
  float factor = by, summand = more;
  long n = y.numel();
  arguments[0] = &data, arguments[1] = &factor, arguments[2] = &summand, arguments[3] = &n;
  cudaLaunchKernel((const void*)scale_kernel, dim3((n + threads - 1) / threads), dim3(threads), arguments, 0, nullptr);
}
"""


def build(name, text, **more):
    return extensions.load_inline(name=name, cuda_sources=text, extra_cuda_cflags=["-O3"], **more)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = build("one", RELU, cpp_sources="")
        self.other = build("other", SCALE, cpp_sources="void scale(torch::Tensor& y, double by, double more);",
                           functions=["scale"])  # fmt: skip

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        self.one.relu(x, y)
        self.other.scale(y, 2.0, 1.0)
        return y

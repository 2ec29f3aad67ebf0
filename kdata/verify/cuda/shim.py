"""What is linked between a candidate's code and CUDA's runtime: it notes launches, and holds them back.

The linker's ``--wrap`` sends every call of these functions here, whatever text, macro or template it comes from.  Where
launches are held back, the runtime is not called and says that all is well: as if kernels returned at once.  Copies to
the host are counted, for what computes there is no kernel; launches that the runtime refused and of which the code has
not asked are told of, for nothing else may; and the library's own variables can be looked at, for what is kept in them
from call to call.

Sources: ld(1) ``--wrap``; crt/host_runtime.h and crt/device_functions.h of CUDA 12 and 13.
"""

from __future__ import annotations

WRAPPED = (
    "cudaLaunchKernel", "cudaLaunchKernel_ptsz", "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz",
    "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel_ptsz", "cudaLaunchKernelExC",
    "cudaLaunchKernelExC_ptsz", "__cudaRegisterFunction", "__cudaGetKernel", "cudaMemcpy", "cudaMemcpy_ptds",
    "cudaMemcpyAsync", "cudaMemcpyAsync_ptsz",
)  # fmt: skip
TEXT = r"""
#include <cuda_runtime.h>
#include <cxxabi.h>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {
struct Launch { char name[240]; unsigned grid[3], block[3]; void* stream; };
struct State {
  std::mutex lock;
  std::map<const void*, std::string> names;
  std::vector<Launch> launches;
  size_t host_bytes = 0;
  int noting = 0, held = 0, refused = 0;
};
State& state() { static State* const kept = new State; return *kept; }

void note(const void* what, dim3 grid, dim3 block, cudaStream_t stream) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  if (!s.noting || s.launches.size() >= 65536) return;
  Launch made{};
  auto known = s.names.find(what);
  strncpy(made.name, known == s.names.end() ? "?" : known->second.c_str(), sizeof made.name - 1);
  const unsigned g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
  memcpy(made.grid, g, sizeof g);
  memcpy(made.block, b, sizeof b);
  made.stream = stream;
  s.launches.push_back(made);
}

cudaError_t launched(cudaError_t said, dim3 grid) {
  const bool empty = !grid.x || !grid.y || !grid.z;  // there is nothing to do
  state().refused = said == cudaSuccess || empty ? state().refused : (int)said;
  return said;
}

void copied(size_t bytes, const void* to) {  // whatever kind of copy it is said to be
  cudaPointerAttributes found{};
  if (cudaPointerGetAttributes(&found, to) != cudaSuccess || found.type != cudaMemoryTypeDevice)
    state().host_bytes += bytes;
}
}  // namespace

extern char __dso_handle __attribute__((visibility("hidden")));
extern char _end __attribute__((visibility("hidden")));

extern "C" {
#define LAUNCH(NAME, WHAT)                                                                                        \
  cudaError_t __real_##NAME(WHAT what, dim3 grid, dim3 block, void** args, size_t shared, cudaStream_t stream);   \
  cudaError_t __wrap_##NAME(WHAT what, dim3 grid, dim3 block, void** args, size_t shared, cudaStream_t stream) {  \
    note((const void*)what, grid, block, stream);                                                                 \
    return state().held ? cudaSuccess : launched(__real_##NAME(what, grid, block, args, shared, stream), grid);   \
  }
#define LAUNCH_EX(NAME)                                                                                           \
  cudaError_t __real_##NAME(const cudaLaunchConfig_t* config, const void* what, void** args);                     \
  cudaError_t __wrap_##NAME(const cudaLaunchConfig_t* config, const void* what, void** args) {                    \
    note(what, config->gridDim, config->blockDim, config->stream);                                                \
    return state().held ? cudaSuccess : launched(__real_##NAME(config, what, args), config->gridDim);             \
  }
#define COPY(NAME)                                                                                                \
  cudaError_t __real_##NAME(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);                       \
  cudaError_t __wrap_##NAME(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {                      \
    copied(bytes, to);                                                                                            \
    return __real_##NAME(to, from, bytes, kind);                                                                  \
  }
#define COPY_ON(NAME)                                                                                             \
  cudaError_t __real_##NAME(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);  \
  cudaError_t __wrap_##NAME(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) { \
    copied(bytes, to);                                                                                            \
    return __real_##NAME(to, from, bytes, kind, stream);                                                          \
  }
#undef cudaLaunchKernel
#undef cudaLaunchCooperativeKernel
#undef cudaLaunchKernelExC
#undef cudaMemcpy
#undef cudaMemcpyAsync
LAUNCH(cudaLaunchKernel, const void*)
LAUNCH(cudaLaunchKernel_ptsz, const void*)
LAUNCH(__cudaLaunchKernel, void*)
LAUNCH(__cudaLaunchKernel_ptsz, void*)
LAUNCH(cudaLaunchCooperativeKernel, const void*)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, const void*)
LAUNCH_EX(cudaLaunchKernelExC)
LAUNCH_EX(cudaLaunchKernelExC_ptsz)
COPY(cudaMemcpy)
COPY(cudaMemcpy_ptds)
COPY_ON(cudaMemcpyAsync)
COPY_ON(cudaMemcpyAsync_ptsz)

void __real___cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int limit,
                                   uint3* tid, uint3* bid, dim3* block, dim3* grid, int* size);
void __wrap___cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int limit,
                                   uint3* tid, uint3* bid, dim3* block, dim3* grid, int* size) {
  int status = 0;
  char* readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  state().names[host] = readable ? readable : name;
  free(readable);
  __real___cudaRegisterFunction(handle, host, device, name, limit, tid, bid, block, grid, size);
}

cudaError_t __real___cudaGetKernel(void** kernel, const void* host);
cudaError_t __wrap___cudaGetKernel(void** kernel, const void* host) {
  cudaError_t found = __real___cudaGetKernel(kernel, host);
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  if (found == cudaSuccess && s.names.count(host)) s.names[*kernel] = s.names[host];
  return found;
}

__attribute__((visibility("default"))) void kdata_begin(int noting, int held) {
  State& s = state();
  s.launches.clear();
  s.host_bytes = 0;
  s.refused = 0;
  s.noting = noting;
  s.held = held;
}
__attribute__((visibility("default"))) int kdata_launches(const void** first) {
  *first = state().launches.data();
  return (int)state().launches.size();
}
__attribute__((visibility("default"))) const char* kdata_refused() {
  if (!state().refused || cudaGetLastError() == cudaSuccess) return nullptr;  // its code has asked, and gone on
  return cudaGetErrorString((cudaError_t)state().refused);
}
__attribute__((visibility("default"))) size_t kdata_host_bytes() { return state().host_bytes; }
__attribute__((visibility("default"))) size_t kdata_variables(const void** first) {
  *first = &__dso_handle;
  return &_end - &__dso_handle;
}
}
"""

#pragma once

// The one place with CUDA's launch syntax, so that a C++ compiler can take the kernels as well: it then gets
// hostLaunch() from its stand-in for cuda_runtime.h.

#include <cstdint>

#include <cuda_runtime.h>

namespace hopscope::kernels {

// More blocks than any GPU holds at once, and far fewer than a grid may have: kernels stride over the rest.
#ifdef __CUDACC__
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;
#else
constexpr std::int64_t kMostBlocks = hostMostBlocks;
#endif

struct Blocks {
    std::int64_t count = 0;
    int threads = 0;
    int shared = 0;  // bytes of shared memory for each
};

template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), const Blocks& blocks, cudaStream_t stream, const Arguments&... arguments)
{
    const auto grid = static_cast<unsigned>(blocks.count < kMostBlocks ? blocks.count : kMostBlocks);
    const auto threads = static_cast<unsigned>(blocks.threads), shared = static_cast<unsigned>(blocks.shared);
#ifdef __CUDACC__
    kernel<<<grid, threads, shared, stream>>>(arguments...);
#else
    hostLaunch(kernel, {grid, threads, shared}, stream, arguments...);
#endif
    return static_cast<int>(cudaGetLastError());
}

}  // namespace hopscope::kernels

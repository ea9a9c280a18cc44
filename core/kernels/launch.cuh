#pragma once

// The one place with CUDA's launch syntax, so that a C++ compiler can take the kernels as well: it then gets
// hostLaunch() from its stand-in for cuda_runtime.h.

#include <cuda_runtime.h>

namespace hopscope::kernels {

// More blocks than any GPU holds at once, and far fewer than a grid may have: kernels stride over the rest.
#ifdef __CUDACC__
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;
#else
constexpr std::int64_t kMostBlocks = hostMostBlocks;
#endif

template <class... Parameters, class... Arguments>
int launch(void (*kernel)(Parameters...), std::int64_t blocks, int threads, cudaStream_t stream,
           const Arguments&... arguments)
{
    const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
#ifdef __CUDACC__
    kernel<<<grid, static_cast<unsigned>(threads), 0, stream>>>(arguments...);
#else
    hostLaunch(kernel, grid, static_cast<unsigned>(threads), stream, arguments...);
#endif
    return static_cast<int>(cudaGetLastError());
}

}  // namespace hopscope::kernels

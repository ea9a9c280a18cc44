#pragma once

// A stand-in for CUDA's header with which a C++ compiler takes segment.cu and strip.cu: kernels are functions, a launch calls them for
// every thread of every block, and what a GPU would refuse is refused. A test can make a launch fail.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/host_cuda/warp.h"

#define __device__
#define __global__
#define __launch_bounds__(threads)
#define __grid_constant__

using cudaStream_t = void*;
enum cudaError_t : int {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorLaunchTimeout = 702
};

struct HostDim {
    unsigned x = 0, y = 0, z = 0;
};
inline thread_local HostDim blockIdx, threadIdx, gridDim, blockDim;

// What the launches of this thread were, and what becomes of the next.
struct HostCuda {
    cudaError_t last = cudaSuccess;
    int launches = 0;
    int failing = 0;  // this launch (1: the first) gives `failure`; 0: none
    cudaError_t failure = cudaSuccess;
    cudaStream_t stream = nullptr;  // of the last launch
    bool backwards = false;         // this launch
    bool inWarps = false;           // the threads of a warp run together, each with a stack of its own
    std::byte* shared = nullptr;    // of the block
};
inline thread_local HostCuda hostCuda;

// So few that kernels must stride.
constexpr std::int64_t hostMostBlocks = 3;

inline cudaError_t cudaGetLastError()
{
    const cudaError_t last = hostCuda.last;
    hostCuda.last = cudaSuccess;
    return last;
}

inline const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "an error"; }

// A block's shared memory, aligned to 16 bytes.
inline std::byte* hostShared() { return hostCuda.shared; }

struct HostGrid {
    unsigned blocks = 0, threads = 0, shared = 0;
};

// Every other launch runs backwards: a kernel must not depend on the order of its blocks and threads.
template <class Kernel, class... Arguments>
void hostLaunch(Kernel kernel, const HostGrid& grid, cudaStream_t stream, const Arguments&... arguments)
{
    ++hostCuda.launches;
    hostCuda.stream = stream;
    if (hostCuda.launches == hostCuda.failing) hostCuda.last = hostCuda.failure;
    const bool fits = grid.blocks > 0 && grid.threads > 0 && grid.threads <= 1024 && grid.shared <= 48 << 10;
    if (!fits) hostCuda.last = cudaErrorInvalidConfiguration;
    if (hostCuda.last != cudaSuccess) return;
    gridDim = {grid.blocks, 1, 1}, blockDim = {grid.threads, 1, 1};
    hostCuda.backwards = hostCuda.launches % 2 == 0;
    for (unsigned block = 0; block < grid.blocks; ++block) {
        const std::unique_ptr<std::byte[]> shared(new std::byte[grid.shared]);
        for (unsigned i = 0; i < grid.shared; ++i) shared[i] = std::byte{0xff};
        hostCuda.shared = shared.get();
        blockIdx.x = hostCuda.backwards ? grid.blocks - 1 - block : block;
        for (unsigned first = 0; hostCuda.inWarps && first < grid.threads; first += 32) {
            const auto thread = [&](unsigned t) {
                threadIdx.x = first + t;
                kernel(arguments...);
            };
            if (runWarp(grid.threads - first < 32 ? grid.threads - first : 32, hostCuda.backwards, thread)) continue;
            hostCuda.last = cudaErrorLaunchTimeout;
            return;
        }
        for (unsigned thread = 0; !hostCuda.inWarps && thread < grid.threads; ++thread) {
            threadIdx.x = hostCuda.backwards ? grid.threads - 1 - thread : thread;
            kernel(arguments...);
        }
    }
}

// Compiled without contraction to fused multiply-add.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }

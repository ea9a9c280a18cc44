#pragma once

// A stand-in for CUDA's header with which a C++ compiler takes segment.cu: kernels are functions, a launch calls them for
// every thread of every block, and what a GPU would refuse is refused. A test can make a launch fail.

#include <bit>
#include <cstdint>

#define __device__
#define __global__

using cudaStream_t = void*;
enum cudaError_t : int { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorInvalidConfiguration = 9 };

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

// Every other launch runs backwards: a kernel must not depend on the order of its blocks and threads.
template <class Kernel, class... Arguments>
void hostLaunch(Kernel kernel, unsigned blocks, unsigned threads, cudaStream_t stream, const Arguments&... arguments)
{
    ++hostCuda.launches;
    hostCuda.stream = stream;
    if (hostCuda.launches == hostCuda.failing) hostCuda.last = hostCuda.failure;
    if (blocks == 0 || threads == 0 || threads > 1024) hostCuda.last = cudaErrorInvalidConfiguration;
    if (hostCuda.last != cudaSuccess) return;
    gridDim = {blocks, 1, 1}, blockDim = {threads, 1, 1};
    const bool backwards = hostCuda.launches % 2 == 0;
    for (unsigned block = 0; block < blocks; ++block) {
        for (unsigned thread = 0; thread < threads; ++thread) {
            blockIdx.x = backwards ? blocks - 1 - block : block;
            threadIdx.x = backwards ? threads - 1 - thread : thread;
            kernel(arguments...);
        }
    }
}

// Compiled without contraction to fused multiply-add.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }

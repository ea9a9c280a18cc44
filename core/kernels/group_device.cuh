#pragma once

// Groups of threads, each within a warp, and shared memory. A C++ compiler takes the kernels as well: one thread then does
// the work of its group, unless HOPSCOPE_WARPS is defined, and a stand-in for cuda_runtime.h has the memory.

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/strip_launch.h"

#ifdef __CUDACC__
#define HOPSCOPE_SHARED(name) extern __shared__ __align__(16) std::byte name[]
#else
#define HOPSCOPE_SHARED(name) std::byte* const name = hostShared()
#endif

namespace hopscope::kernels {

namespace {

__device__ inline float added(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double added(double a, double b) { return __dadd_rn(a, b); }

constexpr int kAtOnce = 4;  // elements of a thread whose loads are on their way at the same time

// A group works in turns: all of its threads do the same for elements of their own, and the next turn sees what this one
// has written. Between turns, a thread knows only what all of them know.
struct Group {
    int lane, lanes;
    unsigned mask;
    std::int64_t number, all;  // in the grid

    __device__ explicit Group(const StripLaunch& l)
        : lane(static_cast<int>(threadIdx.x) & (l.lanes - 1)),
          lanes(l.lanes),
          number(std::int64_t{blockIdx.x} * l.groups + threadIdx.x / static_cast<unsigned>(l.lanes)),
          all(std::int64_t{gridDim.x} * l.groups)
    {
        const int first = static_cast<int>(threadIdx.x % 32) - lane;
        mask = (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1) << first;
    }

#if defined(__CUDACC__) || defined(HOPSCOPE_WARPS)
    template <class Work>
    __device__ void turn(const Work& work) const
    {
        work(lane);
        __syncwarp(mask);
    }

    // Folds values of 16 neighbouring threads in halves, a few sums at the same time; only the first gets the sum.
    template <class C, class Value, class Done>
    __device__ void folds(int count, const Value& value, const Done& done) const
    {
        const int apart = lanes / 16;
        for (int first = lane / 16; first - lane / 16 < count; first += kAtOnce * apart) {
            C sums[kAtOnce];
#pragma unroll
            for (int u = 0; u < kAtOnce; ++u) {
                const int at = first + u * apart;
                sums[u] = value(at < count ? at : count - 1, lane % 16);
            }
#pragma unroll
            for (int half = 8; half > 0; half /= 2)
                for (C& sum : sums) sum = added(sum, __shfl_down_sync(mask, sum, half, 16));
#pragma unroll
            for (int u = 0; u < kAtOnce; ++u)
                if (const int at = first + u * apart; lane % 16 == 0 && at < count) done(at, sums[u]);
        }
        __syncwarp(mask);
    }

    __device__ bool idle() const { return false; }
#else
    // One thread does the work of its group, forwards or backwards.
    template <class Work>
    void turn(const Work& work) const
    {
        for (int k = 0; k < lanes; ++k) work(hostCuda.backwards ? lanes - 1 - k : k);
    }

    template <class C, class Value, class Done>
    void folds(int count, const Value& value, const Done& done) const
    {
        for (int at = 0; at < count; ++at) {
            C sums[16];
            for (int k = 0; k < 16; ++k) sums[k] = value(at, k);
            for (int half = 8; half > 0; half /= 2)
                for (int k = 0; k < half; ++k) sums[k] = added(sums[k], sums[k + half]);
            done(at, sums[0]);
        }
    }

    bool idle() const { return lane != 0; }
#endif
};

}  // namespace

}  // namespace hopscope::kernels

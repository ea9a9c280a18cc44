#pragma once

// Device code that kernels share: elements as they lie in memory, and row numbers.

#include <cstdint>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/segment.h"

namespace hopscope::kernels {

namespace {

struct HalfElement {
    std::uint16_t bits;
};

struct BrainElement {
    std::uint16_t bits;
};

__device__ inline float widen(float value) { return value; }
__device__ inline float widen(HalfElement value) { return __half2float(__ushort_as_half(value.bits)); }
__device__ inline float widen(BrainElement value) { return __uint_as_float(static_cast<unsigned>(value.bits) << 16); }

__device__ inline void narrow(float value, float& to) { to = value; }
__device__ inline void narrow(float value, HalfElement& to) { to.bits = __half_as_ushort(__float2half_rn(value)); }
__device__ inline void narrow(float value, BrainElement& to)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned rounded = value != value ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
    to.bits = static_cast<std::uint16_t>(rounded >> 16);
}

// The first element of a row.
template <class T>
__device__ const T* rowAt(const T* table, const HostRows& host, std::int64_t row, std::int64_t stride)
{
    if (host.places == nullptr) return table + row * stride;
    const std::int32_t place = host.places[row];
    return place < host.cached ? table + place * stride : static_cast<const T*>(host.data) + row * stride;
}

__device__ inline std::int64_t number(const Index& index, std::int64_t i)
{
    return index.wide ? static_cast<const std::int64_t*>(index.data)[i]
                      : static_cast<const std::int32_t*>(index.data)[i];
}

}  // namespace

}  // namespace hopscope::kernels

#pragma once

// What segment.cu takes from CUDA's header of this name; see cuda_runtime.h here.

#include <cstdint>

#include "base/half.h"

struct __half {
    hopscope::base::Float16 value;
};

inline __half __ushort_as_half(std::uint16_t bits) { return {{bits}}; }
inline std::uint16_t __half_as_ushort(__half half) { return half.value.bits; }
inline float __half2float(__half half) { return hopscope::base::widen(half.value); }
inline __half __float2half_rn(float value) { return {hopscope::base::narrow<hopscope::base::Float16>(value)}; }

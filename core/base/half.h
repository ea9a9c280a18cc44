#pragma once

// Represents the two 16-bit floating-point formats by their bits. Widening is exact; narrowing rounds once (to nearest,
// ties to even). NaN stays NaN and keeps its sign. The code is independent of the instruction set, and the vector
// instructions of the kernels must agree with it.

#include <bit>
#include <cstdint>

namespace hopscope::base {

struct Float16 {
    std::uint16_t bits;
};

struct BFloat16 {
    std::uint16_t bits;
};

inline float widen(float value) { return value; }

inline float widen(BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

inline float widen(Float16 value)
{
    constexpr std::uint32_t exponents = 0x7c00u << 13, rebias = (127u - 15u) << 23;
    const std::uint32_t sign = (value.bits & 0x8000u) << 16, magnitude = (value.bits & 0x7fffu) << 13;
    std::uint32_t bits = magnitude + rebias;
    if (magnitude >= exponents) {  // infinity or NaN
        bits += rebias;
    } else if (magnitude < (1u << 23)) {
        // A subnormal number is read as a normal one with an additional bit, which is then subtracted exactly.
        bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits + (1u << 23)) - std::bit_cast<float>(113u << 23));
    }
    return std::bit_cast<float>(bits | sign);
}

template <class Type>
Type narrow(float value);

template <>
inline float narrow<float>(float value)
{
    return value;
}

template <>
inline BFloat16 narrow<BFloat16>(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (value != value) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
    return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

template <>
inline Float16 narrow<Float16>(float value)
{
    constexpr std::uint32_t infinity = 0x7f800000u, tooLarge = (127u + 16u) << 23, smallestNormal = (127u - 14u) << 23;
    constexpr std::uint32_t half = 126u << 23;  // 0.5, whose last place is the smallest subnormal, 2^-24
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= tooLarge) {
        magnitude = magnitude > infinity ? 0x7e00u : 0x7c00u;
    } else if (magnitude < smallestNormal) {
        const float rounded = std::bit_cast<float>(magnitude) + std::bit_cast<float>(half);
        magnitude = std::bit_cast<std::uint32_t>(rounded) - half;
    } else {
        magnitude = (magnitude - ((127u - 15u) << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    }
    return {static_cast<std::uint16_t>(sign | magnitude)};
}

}  // namespace hopscope::base

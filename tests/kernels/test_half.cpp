#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/half.h"
#include "kernels/segment_case.h"

using namespace hopscope::base;
using namespace hopscope::kernels;
using segment_case::decode;
using segment_case::encode;

namespace {

bool same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

template <class Type>
void checkWidening(Element element)
{
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
        const Type half{static_cast<std::uint16_t>(bits)};
        const float want = decode(element, bits), got = widen(half);
        CAPTURE(bits);
        if (std::isnan(want)) REQUIRE((std::isnan(got) && std::isnan(widen(narrow<Type>(got)))));
        else REQUIRE((same(got, want) && narrow<Type>(got).bits == bits));
    }
}

template <class Type>
void checkNarrowing(Element element, float value)
{
    CAPTURE(value);
    CAPTURE(std::bit_cast<std::uint32_t>(value));
    const std::uint32_t want = encode(element, value), got = narrow<Type>(value).bits;
    if (std::isnan(value)) REQUIRE(std::isnan(decode(element, got)));
    else REQUIRE(got == want);
}

// Halfway between neighbours and as near to it as a float gets, both signs.
template <class Type>
void checkTies(Element element)
{
    for (std::uint32_t bits = 0; bits + 1 < encode(element, std::numeric_limits<double>::infinity()); ++bits) {
        const double low = decode(element, bits), high = decode(element, bits + 1);
        const auto middle = static_cast<float>((low + high) / 2);
        for (const float value : {std::nextafterf(middle, 0), middle, std::nextafterf(middle, 1e38f)}) {
            checkNarrowing<Type>(element, value);
            checkNarrowing<Type>(element, -value);
        }
    }
}

}  // namespace

TEST_CASE("every half number is widened exactly and narrowed back to itself")
{
    checkWidening<Float16>(Element::Float16);
    checkWidening<BFloat16>(Element::BFloat16);
}

TEST_CASE("narrowing rounds to the nearest half number, ties to even")
{
    checkTies<Float16>(Element::Float16);
    checkTies<BFloat16>(Element::BFloat16);
}

TEST_CASE("any float is narrowed as the judge narrows it, the largest and the smallest too")
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 200000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        checkNarrowing<Float16>(Element::Float16, value);
        checkNarrowing<BFloat16>(Element::BFloat16, value);
    }
    for (const float value : {65504.0f, 65519.9f, 65520.0f, 65536.0f, 1e30f, 3.4028235e38f, 1e-45f, 5.9604645e-8f,
                              std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        checkNarrowing<Float16>(Element::Float16, value);
        checkNarrowing<BFloat16>(Element::BFloat16, -value);
        checkNarrowing<Float16>(Element::Float16, -value);
        checkNarrowing<BFloat16>(Element::BFloat16, value);
    }
}

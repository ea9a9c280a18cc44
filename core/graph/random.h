#pragma once

// Random numbers as a function of (seed, stream, index): any thread can draw any element. Only integer arithmetic and
// correctly rounded floating-point operations are used, so that every machine draws the same numbers.

#include <cstdint>

namespace hopscope::graph {

// Maps 64-bit words one-to-one and scatters neighbouring inputs (the finaliser of SplitMix64).
constexpr std::uint64_t scatter(std::uint64_t z)
{
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

// The draws that belong to one index of one stream.
class Draws {
public:
    Draws(std::uint64_t key, std::uint64_t index) : m_state(scatter(key + index * kGolden)) {}

    std::uint64_t bits() { return scatter(m_state += kGolden); }
    // Returns a number in [0, n) for n > 0, with a bias below n / 2^64.
    std::int64_t below(std::int64_t n)
    {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::int64_t>((Wide{bits()} * static_cast<std::uint64_t>(n)) >> 64U);
    }
    // Returns a number in [0, 1).
    double unit() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

private:
    std::uint64_t m_state;
};

// Returns the key of a stream. The draws of different streams are independent.
constexpr std::uint64_t streamKey(std::uint64_t seed, std::uint64_t stream)
{
    return scatter(scatter(seed + kGolden) ^ (stream * 0xD1B54A32D192ED03ULL));
}

// Returns the standard normal quantile of (word + 1/2) / 2^32 (PPND7 of Wichura's AS 241).
float normalFromWord(std::uint32_t word);

// A pseudo-random permutation of [0, n) without a table: a balanced Feistel network on the next power of four, applied
// until the result is below n. Constant expected time.
class Permutation {
public:
    Permutation(std::int64_t n, std::uint64_t key);
    [[nodiscard]] std::int64_t operator()(std::int64_t id) const;

private:
    [[nodiscard]] std::uint64_t network(std::uint64_t id) const;

    std::uint64_t m_n, m_key;
    unsigned m_half = 1;  // bits per half
};

}  // namespace hopscope::graph

#pragma once

#include <cstdint>

namespace hopscope::analysis {

// Mixes the bits of a number; the function is a bijection.
inline std::uint64_t mix(std::uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

inline bool isPrime(std::int64_t n)
{
    for (std::int64_t d = 2; d * d <= n; ++d)
        if (n % d == 0) return false;
    return n > 1;
}

}  // namespace hopscope::analysis

#pragma once

#include <cstdint>

namespace hopscope::analysis {

// Spreads the bits of a number; a bijection.
inline std::uint64_t mix(std::uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

}  // namespace hopscope::analysis

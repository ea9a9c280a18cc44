#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hopscope::graph {

// The XXH3-128 of some bytes, in canonical order: for finding damage, not for security.
struct Digest {
    std::array<std::uint8_t, 16> bytes{};

    [[nodiscard]] std::string hex() const;
    auto operator<=>(const Digest&) const = default;
};

// Linear, several bytes per clock cycle.
Digest digestOf(const void* data, std::size_t size);
// Of the digests of its pieces of 1 MiB, on so many threads; does not depend on their number.
Digest digestOf(const void* data, std::size_t size, int threads);
// Of digests: that of their bytes, one after the other.
Digest digestOf(std::span<const Digest> parts);

}  // namespace hopscope::graph

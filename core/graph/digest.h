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
// The digest of the digests of its pieces of 1 MiB. Does not depend on the number of threads.
Digest digestOf(const void* data, std::size_t size, int threads);
// The digest of the concatenated bytes of digests.
Digest digestOf(std::span<const Digest> parts);

}  // namespace hopscope::graph

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hopscope::graph {

// An XXH3-128 in canonical byte order. It detects damage; it is not secure.
struct Digest {
    std::array<std::uint8_t, 16> bytes{};

    [[nodiscard]] std::string hex() const;
    auto operator<=>(const Digest&) const = default;
};

// Returns the digest of `size` bytes. Linear.
Digest digestOf(const void* data, std::size_t size);
// Returns the digest of the digests of pieces of 1 MiB. The result does not depend on the number of threads.
Digest digestOf(const void* data, std::size_t size, int threads);
// Returns the digest of the concatenated bytes of digests.
Digest digestOf(std::span<const Digest> parts);

}  // namespace hopscope::graph

#include "graph/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"

namespace hopscope::graph {

std::string Digest::hex() const
{
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += "0123456789abcdef"[byte >> 4U];
        text += "0123456789abcdef"[byte & 0xFU];
    }
    return text;
}

Digest digestOf(const void* data, std::size_t size)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
    Digest digest;
    std::copy_n(canonical.digest, digest.bytes.size(), digest.bytes.begin());
    return digest;
}

Digest digestOf(const void* data, std::size_t size, int threads)
{
    constexpr std::size_t piece = 1 << 20;
    std::vector<Digest> pieces((size + piece - 1) / piece);
    base::parallelParts(std::ssize(pieces), threads, 1, [&](int, std::int64_t first, std::int64_t last) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
            pieces[i] = digestOf(static_cast<const std::byte*>(data) + i * piece, std::min(piece, size - i * piece));
    });
    return digestOf(pieces);
}

Digest digestOf(std::span<const Digest> parts) { return digestOf(parts.data(), parts.size_bytes()); }

}  // namespace hopscope::graph

#include "graph/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

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

Digest digestOf(std::span<const Digest> parts) { return digestOf(parts.data(), parts.size_bytes()); }

}  // namespace hopscope::graph

// What is learned by reading every byte of the data once: its hash and its non-finite elements.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include "base/parallel.h"
#include "graph/dataset.h"
#include "graph/digest.h"
#include "graph/strided.h"

namespace hopscope::graph {

namespace {

class Hasher {
public:
    Hasher() : m_state(XXH3_createState(), XXH3_freeState) { XXH3_128bits_reset(m_state.get()); }

    void bytes(const void* data, std::size_t count) { XXH3_128bits_update(m_state.get(), data, count); }
    void number(std::int64_t value) { bytes(&value, sizeof(value)); }
    // Lengths go first, so that ("a", "bc") and ("ab", "c") differ.
    void text(const std::string& value)
    {
        number(static_cast<std::int64_t>(value.size()));
        bytes(value.data(), value.size());
    }

    [[nodiscard]] std::string hex() const
    {
        XXH128_canonical_t canonical;
        XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(m_state.get()));
        Digest digest;
        std::copy_n(canonical.digest, digest.bytes.size(), digest.bytes.begin());
        return digest.hex();
    }

private:
    std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> m_state;
};

void hashTensor(Hasher& hasher, const base::TensorView& view)
{
    hasher.text(base::dtypeName(view.dtype));
    hasher.number(static_cast<std::int64_t>(view.shape.size()));
    for (const std::int64_t extent : view.shape) hasher.number(extent);
    const std::size_t size = base::itemSize(view.dtype);
    forEachPiece(view, [&](const std::byte* bytes, std::int64_t count) {
        hasher.bytes(bytes, static_cast<std::size_t>(count) * size);
    });
}

// A floating number is NaN or infinite when all bits of its exponent are set.
template <class Bits>
std::int64_t countExponents(const std::byte* bytes, std::int64_t count, Bits exponent)
{
    std::int64_t found = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        Bits bits;
        std::memcpy(&bits, bytes + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
        found += (bits & exponent) == exponent ? 1 : 0;
    }
    return found;
}

std::int64_t countPiece(base::DType dtype, const std::byte* bytes, std::int64_t count)
{
    switch (dtype) {
    case base::DType::Float16: return countExponents<std::uint16_t>(bytes, count, 0x7C00);
    case base::DType::BFloat16: return countExponents<std::uint16_t>(bytes, count, 0x7F80);
    case base::DType::Float32: return countExponents<std::uint32_t>(bytes, count, 0x7F800000);
    default: return countExponents<std::uint64_t>(bytes, count, 0x7FF0000000000000);
    }
}

std::int64_t countTensor(const base::TensorView& view)
{
    std::atomic<std::int64_t> found{0};
    const auto size = static_cast<std::int64_t>(base::itemSize(view.dtype));
    forEachPiece(view, [&](const std::byte* bytes, std::int64_t elements) {
        base::parallelParts(elements, base::hardwareThreads(), 1 << 20, [&](int, std::int64_t begin, std::int64_t end) {
            found += countPiece(view.dtype, bytes + begin * size, end - begin);
        });
    });
    return found;
}

}  // namespace

std::string hashData(const base::TensorMap& data)
{
    Hasher hasher;
    for (const auto& [name, view] : data) {
        hasher.text(name);
        hashTensor(hasher, view);
    }
    return hasher.hex();
}

std::map<std::string, std::int64_t> countNotFinite(const base::TensorMap& data)
{
    std::map<std::string, std::int64_t> counts;
    for (const auto& [name, view] : data) {
        const std::int64_t count = base::isFloating(view.dtype) ? countTensor(view) : 0;
        if (count > 0) counts.emplace(name, count);
    }
    return counts;
}

}  // namespace hopscope::graph

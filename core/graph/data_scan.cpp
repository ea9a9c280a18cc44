// Reads every byte of the data once, for its hash and its non-finite elements.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include "base/parallel.h"
#include "base/proc.h"
#include "graph/dataset.h"
#include "graph/digest.h"
#include "graph/file_pass.h"
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

using Visit = std::function<void(const std::byte* bytes, std::int64_t elements)>;

void hashHead(Hasher& hasher, const std::string& name, const base::TensorView& view)
{
    hasher.text(name);
    hasher.text(base::dtypeName(view.dtype));
    hasher.number(static_cast<std::int64_t>(view.shape.size()));
    for (const std::int64_t extent : view.shape) hasher.number(extent);
}

Visit hashInto(Hasher& hasher, const base::TensorView& view)
{
    return [&hasher, size = base::itemSize(view.dtype)](const std::byte* bytes, std::int64_t count) {
        hasher.bytes(bytes, static_cast<std::size_t>(count) * size);
    };
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
    case base::DType::Complex64: return countExponents<std::uint32_t>(bytes, 2 * count, 0x7F800000);
    case base::DType::Complex128: return countExponents<std::uint64_t>(bytes, 2 * count, 0x7FF0000000000000);
    default: return countExponents<std::uint64_t>(bytes, count, 0x7FF0000000000000);
    }
}

Visit countInto(std::atomic<std::int64_t>& found, const base::TensorView& view)
{
    return [&found, dtype = view.dtype](const std::byte* bytes, std::int64_t elements) {
        const auto size = static_cast<std::int64_t>(base::itemSize(dtype));
        base::parallelParts(elements, base::hardwareThreads(), 1 << 20, [&](int, std::int64_t begin, std::int64_t end) {
            found += countPiece(dtype, bytes + begin * size, end - begin);
        });
    };
}

std::int64_t bytesOf(const base::TensorMap& data)
{
    std::int64_t bytes = 0;
    for (const auto& [name, view] : data) bytes += view.bytes();
    return bytes;
}

// How many elements could be read past the page cache.
std::int64_t passElements(const base::TensorView& view, const Visit& visit)
{
    const auto place = view.contiguous() && view.elements() > 0 ? fileBehind(view.data) : std::nullopt;
    if (!place) return 0;
    const base::Result<DirectFile> file = DirectFile::open(place->path);
    if (!file) return 0;
    const auto size = static_cast<std::int64_t>(base::itemSize(view.dtype));
    std::int64_t done = 0;
    (void)passOver(*file, place->offset, view.bytes(), [&](const std::byte* bytes, std::int64_t count) {
        visit(bytes, count / size);
        done += count / size;
    });
    return done;
}

// Like forEachPiece, but past the page cache where the tensor lies in a file.
void passOnce(const base::TensorView& view, const Visit& visit)
{
    const std::int64_t done = passElements(view, visit);
    if (done == 0) return forEachPiece(view, visit);
    const auto size = static_cast<std::int64_t>(base::itemSize(view.dtype));
    if (done < view.elements()) visit(view.data + done * size, view.elements() - done);
}

}  // namespace

std::string hashData(const base::TensorMap& data)
{
    Hasher hasher;
    for (const auto& [name, view] : data) {
        hashHead(hasher, name, view);
        forEachPiece(view, hashInto(hasher, view));
    }
    return hasher.hex();
}

// Row numbers have been read before, to infer their roles, and will be again: the page cache may keep them.
DataFacts examine(const base::TensorMap& data, std::optional<std::int64_t> memory)
{
    const bool large = bytesOf(data) > memory.value_or(base::availableMemory() / 2);
    Hasher hasher;
    DataFacts facts;
    for (const auto& [name, view] : data) {
        hashHead(hasher, name, view);
        const Visit hash = hashInto(hasher, view);
        std::atomic<std::int64_t> found{0};
        const Visit both = [&, count = countInto(found, view)](const std::byte* bytes, std::int64_t elements) {
            hash(bytes, elements);
            count(bytes, elements);
        };
        if (!base::isFloating(view.dtype)) forEachPiece(view, hash);
        else if (large) passOnce(view, both);
        else forEachPiece(view, both);
        if (found > 0) facts.notFinite.emplace(name, found);
    }
    facts.hash = hasher.hex();
    return facts;
}

NotFinite countNotFinite(const base::TensorView& view, std::optional<std::int64_t> memory)
{
    const bool complex = view.dtype >= base::DType::Complex64;
    if (!base::isFloating(view.dtype) && !complex) return {};
    std::atomic<std::int64_t> found{0};
    const Visit count = countInto(found, view);
    if (view.bytes() > memory.value_or(base::availableMemory() / 2)) passOnce(view, count);
    else forEachPiece(view, count);
    return {.numbers = found, .of = view.elements() * (complex ? 2 : 1)};
}

}  // namespace hopscope::graph

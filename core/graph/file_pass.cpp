#include "graph/file_pass.h"

#include <algorithm>
#include <array>
#include <future>

#include "base/parallel.h"

namespace hopscope::graph {

namespace {

constexpr int readers = 4;                      // requests that the disk has at a time
constexpr std::int64_t requested = 1 << 20;     // bytes of a request, whole pages
constexpr std::int64_t piece = 16 * requested;  // bytes
constexpr std::int64_t page = DirectFile::slack / 2;

// Reads in requests that begin at pages of the file, so that none overwrites the bytes of another.
base::Result<const std::byte*> readPiece(const DirectFile& file, std::int64_t offset, std::int64_t count,
                                         const PageMemory& memory)
{
    const std::int64_t before = offset % page, from = offset - before, end = offset + count;
    std::array<base::Status, readers> results;
    const std::int64_t requests = (end - from + requested - 1) / requested;
    base::parallelParts(requests, readers, 1, [&](int part, std::int64_t first, std::int64_t last) {
        base::Status& result = results[static_cast<std::size_t>(part)];
        for (std::int64_t r = first; r < last && result; ++r) {
            const std::int64_t at = r * requested;
            const auto read = file.read(from + at, std::min(requested, end - from - at), memory.data() + at);
            if (!read) result = base::forward(read);
        }
    });
    for (const base::Status& result : results)
        if (!result) return base::forward(result);
    return memory.data() + before;
}

}  // namespace

base::Status passOver(const DirectFile& file, std::int64_t offset, std::int64_t count,
                      const std::function<void(const std::byte* bytes, std::int64_t count)>& visit)
{
    std::array<PageMemory, 2> memory;
    for (PageMemory& m : memory) {
        auto made = PageMemory::allocate(std::min(piece, count) + DirectFile::slack);
        if (!made) return base::forward(made);
        m = std::move(*made);
    }
    const auto begin = [&](std::int64_t at) {
        const PageMemory& to = memory[static_cast<std::size_t>(at / piece % 2)];
        return std::async(std::launch::async, readPiece, std::cref(file), offset + at, std::min(piece, count - at),
                          std::cref(to));
    };
    std::future<base::Result<const std::byte*>> next;
    if (count > 0) next = begin(0);
    for (std::int64_t at = 0; at < count; at += piece) {
        const base::Result<const std::byte*> read = next.get();
        if (!read) return base::forward(read);
        if (at + piece < count) next = begin(at + piece);
        visit(*read, std::min(piece, count - at));
    }
    return {};
}

}  // namespace hopscope::graph

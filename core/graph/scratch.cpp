#include <sys/mman.h>

#include <atomic>
#include <cstdlib>

#include "base/units.h"
#include "graph/adjacency.h"
#include "graph/file.h"

namespace hopscope::graph {

namespace {

std::atomic<std::int64_t> allowed = 0, used = 0;

void giveBack(std::byte* memory, std::int64_t bytes)
{
    ::munmap(memory, static_cast<std::size_t>(bytes));
    used -= bytes;
}

// nullptr if it is not allowed, or if there is no memory.
std::shared_ptr<std::byte> anonymous(std::int64_t bytes)
{
    if (used.fetch_add(bytes) + bytes <= allowed) {
        void* const memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) {
            ::madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
            return {static_cast<std::byte*>(memory), [bytes](std::byte* p) { giveBack(p, bytes); }};
        }
    }
    used -= bytes;
    return nullptr;
}

}  // namespace

void allowAnonymousScratch(std::int64_t bytes) { allowed = bytes; }
std::int64_t anonymousScratchAllowed() { return allowed; }
std::int64_t anonymousScratch() { return used; }

base::Result<std::shared_ptr<std::byte>> mapScratch(const std::string& folder, std::int64_t size)
{
    if (auto memory = size > 0 ? anonymous(size) : nullptr) return memory;
    return mapScratchFile(folder, size);
}

Scratch::Scratch(std::string folder, std::int64_t threshold) : m_folder(std::move(folder)), m_threshold(threshold) {}

base::Result<std::shared_ptr<std::byte>> Scratch::allocate(std::int64_t bytes) const
{
    if (bytes > m_threshold) return mapScratch(m_folder, bytes);
    void* const memory = std::calloc(static_cast<std::size_t>(bytes > 0 ? bytes : 1), 1);
    if (memory == nullptr)
        return base::fail(base::ErrorCode::Resources,
                          "no memory for a scratch array of " + base::formatBytes(static_cast<double>(bytes)));
    return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), std::free);
}

}  // namespace hopscope::graph

#include "graph/spare_pages.h"

#include <sys/mman.h>

namespace hopscope::graph {

namespace {

constexpr std::size_t mostMoved = 16384;  // of the system's 65,530 mappings of a process each block takes one or two
constexpr auto size = static_cast<std::uintptr_t>(SparePages::block);

// Bytes from the last multiple of a block on.
std::uintptr_t behind(const std::byte* address) { return reinterpret_cast<std::uintptr_t>(address) % size; }

// The first multiple of a block from an address on.
std::byte* nextBlock(const std::byte* address)
{
    return const_cast<std::byte*>(address) + (size - behind(address)) % size;
}

std::byte* blockOf(const std::byte* address) { return const_cast<std::byte*>(address) - behind(address); }

// Where the system cannot do that, the target gets fresh pages: it may have lost its own.
void move(std::byte* from, std::byte* to)
{
    constexpr int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    if (::mremap(from, size, size, flags, to) != MAP_FAILED) return;
    (void)::mmap(to, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

std::int64_t SparePages::give(const PageMemory& from, std::int64_t first, std::int64_t end)
{
    const std::lock_guard lock(m_mutex);
    if (m_owners.empty() || m_owners.back().data() != from.data()) m_owners.push_back(from);
    std::byte* next = nextBlock(from.data() + first);
    if (next + block > from.data() + end) return first;
    for (; next + block <= from.data() + end; next += block) m_blocks.push_back(next);
    return next - from.data();
}

void SparePages::fill(const PageMemory& to, std::int64_t first, std::int64_t end)
{
    const std::lock_guard lock(m_mutex);
    for (std::byte* b = blockOf(to.data() + first); b < to.data() + end; b += block) {
        if (b < to.data() || b + block > to.data() + to.size()) continue;
        if (!m_filled.insert(b).second || m_blocks.empty() || m_filled.size() > mostMoved) continue;
        move(m_blocks.back(), b);
        m_blocks.pop_back();
    }
}

}  // namespace hopscope::graph

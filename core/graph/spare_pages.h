#pragma once

// Moves pages that one memory does not need any more to another one that is about to be filled: the system would have
// to clear fresh ones, and the host of a virtual machine to find them.

#include <mutex>
#include <set>
#include <vector>

#include "graph/direct_file.h"

namespace hopscope::graph {

// Thread-safe.
class SparePages {
public:
    static constexpr std::int64_t block = 8 << 20;  // bytes that move at once

    // Offers bytes whose content is not needed any more. The memory keeps its pages until they are moved, or it ends.
    // Takes whole blocks; returns where the rest begins.
    std::int64_t give(const PageMemory& from, std::int64_t first, std::int64_t end);
    // To be called before these bytes of a memory are written for the first time. Each whole block gets pages once, as
    // long as there are any.
    void fill(const PageMemory& to, std::int64_t first, std::int64_t end);

private:
    std::mutex m_mutex;
    std::vector<PageMemory> m_owners;
    std::vector<std::byte*> m_blocks;
    std::set<const std::byte*> m_filled;
};

}  // namespace hopscope::graph

#pragma once

// Moves pages from unused memory to memory that is about to be filled: the system would have to
// clear fresh pages, and the host of a virtual machine would have to provide them.

#include <mutex>
#include <set>
#include <vector>

#include "graph/direct_file.h"

namespace hopscope::graph {

// Thread-safe.
class SparePages {
public:
    static constexpr std::int64_t block = 8 << 20;  // bytes that move at once

    // Offers bytes whose content is not needed any more. The memory keeps its pages until they are moved or it is
    // freed. Takes whole blocks; returns the start of the rest.
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

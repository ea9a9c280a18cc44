#pragma once

// Moves pages from unused memory to memory that is about to be filled. That is faster than fresh pages, which the
// system must clear, and which the host of a virtual machine must provide.

#include <mutex>
#include <set>
#include <vector>

#include "graph/direct_file.h"

namespace hopscope::graph {

// A pool of unused pages. Thread-safe.
class SparePages {
public:
    static constexpr std::int64_t block = 8 << 20;  // bytes that are moved at once

    // Offers the bytes [first, end) of `from`, which are no longer needed. The pool keeps `from` alive, which has the
    // pages until they are moved. Takes whole blocks, and returns the start of the rest.
    std::int64_t give(const PageMemory& from, std::int64_t first, std::int64_t end);
    // Provides pages for the bytes [first, end) of `to`. Call it before these are written for the first time. Each
    // whole block gets pages once, as long as there are any, up to a fixed number of blocks.
    void fill(const PageMemory& to, std::int64_t first, std::int64_t end);

private:
    std::mutex m_mutex;
    std::vector<PageMemory> m_owners;
    std::vector<std::byte*> m_blocks;
    std::set<const std::byte*> m_filled;
};

}  // namespace hopscope::graph

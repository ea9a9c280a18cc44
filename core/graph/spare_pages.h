#pragma once

// Pages that one memory does not need any more and another one is about to fill: fresh ones would have to be cleared by the
// system, and on a virtual machine to be found by its host.

#include <mutex>
#include <set>
#include <vector>

#include "graph/direct_file.h"

namespace hopscope::graph {

// Threads may use it side by side.
class SparePages {
public:
    static constexpr std::int64_t block = 8 << 20;  // bytes that move at once

    // What lies in these bytes is not needed any more. The memory keeps its pages until they are moved, or it ends. Takes whole
    // blocks; gives where the rest begins.
    std::int64_t give(const PageMemory& from, std::int64_t first, std::int64_t end);
    // Before these bytes of a memory are written for the first time. Each whole block of it gets pages once, as long as there
    // are any.
    void fill(const PageMemory& to, std::int64_t first, std::int64_t end);

private:
    std::mutex m_mutex;
    std::vector<PageMemory> m_owners;
    std::vector<std::byte*> m_blocks;
    std::set<const std::byte*> m_filled;
};

}  // namespace hopscope::graph

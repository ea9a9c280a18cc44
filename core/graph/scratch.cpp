#include <cstdlib>

#include "base/units.h"
#include "graph/adjacency.h"
#include "graph/file.h"

namespace hopscope::graph {

Scratch::Scratch(std::string folder, std::int64_t threshold) : m_folder(std::move(folder)), m_threshold(threshold) {}

base::Result<std::shared_ptr<std::byte>> Scratch::allocate(std::int64_t bytes) const
{
    if (bytes > m_threshold) return mapScratchFile(m_folder, bytes);
    void* const memory = std::calloc(static_cast<std::size_t>(bytes > 0 ? bytes : 1), 1);
    if (memory == nullptr)
        return base::fail(base::ErrorCode::Resources,
                          "no memory for a scratch array of " + base::formatBytes(static_cast<double>(bytes)));
    return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), std::free);
}

}  // namespace hopscope::graph

#pragma once

#include <vector>

#include "executor/journal.h"

namespace hopscope::tests {

// A journal in memory.
struct NotedChunks final : executor::Journal {
    [[nodiscard]] std::optional<std::int64_t> batchBytes() const override { return {}; }
    base::Result<std::vector<executor::Chunk>> begin(std::int64_t, const std::vector<plan::LoopCut>&) override
    {
        return finished;
    }
    base::Status append(const executor::Chunk& chunk) override
    {
        chunks.push_back(chunk);
        return {};
    }
    base::Status sync(std::int64_t) override { return {}; }

    std::vector<executor::Chunk> finished, chunks;  // before this run, and in it
};

}  // namespace hopscope::tests

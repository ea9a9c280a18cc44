#pragma once

// Private to forecast: how many bytes a batch of a loop takes from the device's allocator, from what a few small batches took.
// Sizes of tensors are linear in the rows of few classes, and batches of a loop take and give back their blocks in the same
// order: what a small batch did says what any other does.

#include <map>
#include <optional>
#include <vector>

#include "executor/batching.h"
#include "executor/memory.h"

namespace hopscope::forecast {

struct ProbedBatch {
    std::map<ir::RowClass, std::int64_t> rows;
    std::vector<executor::AllocationTrace::Event> events;
};

struct Probed {
    std::vector<ProbedBatch> batches;
    std::int64_t reduced = 0;  // bytes that row reductions hold between batches, as the allocator counts
    bool gpu = false;          // whose allocator
    std::map<ir::ValueId, std::int64_t> whole{};  // GPU: what each value without rows that the loop uses takes there
};

class LoopMemory {
public:
    // nullopt if fewer than two batches did the same in the same order, or if the rows do not explain some size. Linear in
    // the events, and in the kinds of sizes times the cube of the classes.
    static std::optional<LoopMemory> learn(const Probed& probed);

    // The most that is held at once, as the allocator counts; `first`: nothing has been reduced yet. Linear in the events.
    [[nodiscard]] double peak(const executor::CountOf& count, bool first) const;
    [[nodiscard]] const std::map<ir::ValueId, std::int64_t>& whole() const { return m_whole; }

private:
    struct Size {
        double constant = 0;
        std::vector<std::pair<std::size_t, double>> perRow;  // class, bytes
    };
    friend class SizeFinder;

    std::vector<ir::RowClass> m_classes;
    std::vector<Size> m_sizes;                                  // kinds of them
    std::vector<std::pair<std::size_t, std::size_t>> m_events;  // block, and its kind of size or that it goes
    std::size_t m_blocks = 0;
    std::int64_t m_reduced = 0;
    bool m_gpu = false;
    std::map<ir::ValueId, std::int64_t> m_whole;
};

}  // namespace hopscope::forecast

#pragma once

// Private to forecast: predicts the memory that a batch of a loop allocates on the device, from traces of a few small
// batches. The sizes of all tensors are linear in the rows of a few classes, or in the padded rows that are passed to
// oneDNN (calls/dense_shape.h). Since all batches of a loop allocate and free memory in the same order, the traces
// of small batches determine that of any other batch.

#include <map>
#include <optional>
#include <vector>

#include "executor/loop/batching.h"
#include "executor/memory.h"

namespace hopscope::forecast {

struct ProbedBatch {
    std::map<ir::RowClass, std::int64_t> rows;
    std::vector<executor::AllocationTrace::Event> events;
};

struct Probed {
    std::vector<ProbedBatch> batches;
    std::int64_t reduced = 0;  // bytes that reductions hold between batches, as counted by the allocator
    bool gpu = false;          // traced on a GPU
    std::map<ir::ValueId, std::int64_t> whole{};  // GPU: bytes of each value without rows that the loop uses
};

// The memory of a single batch in a dry run, as counted by the allocator.
struct DryRun {
    std::int64_t peak = 0;
    std::int64_t reduced = 0;  // bytes that reductions hold before it, unless it is the first batch
};

// Returns the peak of the memory held by these allocations on a CPU, as counted by the allocator.
std::int64_t peakOf(const std::vector<executor::AllocationTrace::Event>& events);

class LoopMemory {
public:
    // Fits the sizes to the traces. Returns nullopt if fewer than two batches have the same sequence of events, or if
    // some size is not linear in the rows. Linear in the number of events plus the number of distinct sizes times the
    // cube of the classes.
    static std::optional<LoopMemory> learn(const Probed& probed);

    // Returns whether the traced batches determine the memory of this one: not if it has more rows of a class for each
    // destination than they, which all had equally many.
    [[nodiscard]] bool knows(const executor::CountOf& count) const;
    // Returns the peak of a batch in bytes, as counted by the allocator. `first` means that it is the first batch, for
    // which reductions hold no memory yet. Linear in the events.
    [[nodiscard]] double peak(const executor::CountOf& count, bool first) const;
    [[nodiscard]] const std::map<ir::ValueId, std::int64_t>& whole() const { return m_whole; }

private:
    struct Size {
        double constant = 0;
        std::vector<std::pair<std::size_t, double>> perRow;  // class, or classes + class for rows of products; bytes
    };
    friend class SizeFinder;

    std::vector<ir::RowClass> m_classes;
    ir::RowClass m_batch;
    std::vector<std::pair<ir::RowClass, double>> m_even;        // rows for each destination, equal in all batches
    std::vector<Size> m_sizes;                                  // distinct ones
    std::vector<std::pair<std::size_t, std::size_t>> m_events;  // block, and the index of its size or a mark
    std::size_t m_blocks = 0;
    std::int64_t m_reduced = 0;
    bool m_gpu = false;
    std::map<ir::ValueId, std::int64_t> m_whole;
};

}  // namespace hopscope::forecast

#pragma once

// Private to forecast: counts the rows of each class in each batch of a loop from the graph, without building blocks.

#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "executor/structure.h"
#include "plan/plan.h"

namespace hopscope::forecast {

// The number of rows in each batch, and in total.
struct Counts {
    std::vector<std::int64_t> perBatch;
    std::int64_t total = 0;
    [[nodiscard]] std::size_t largest() const;  // index of the batch with the most rows
};

// Caches all counts, by table, key or frontier, and batch size.
class ClassCounts {
public:
    ClassCounts(const analysis::Analysis& analysis, executor::Structure& structure)
        : m_analysis(analysis),
          m_structure(structure)
    {}

    // Counts the rows of batches of `size` destinations in ascending order; the last batch may be smaller. Linear in
    // the rows for a frontier that is counted for the first time, otherwise linear in the number of batches.
    const Counts& of(const plan::Loop& loop, const ir::RowClass& rows, std::int64_t size);
    // Returns upper bounds for these numbers, in time linear in the number of batches.
    Counts atMost(const plan::Loop& loop, const ir::RowClass& rows, std::int64_t size);

private:
    using Key = std::tuple<ir::SpaceId, ir::RowClass, std::vector<std::array<std::int32_t, 3>>, std::int64_t>;
    struct Range {  // destinations of a batch
        std::int64_t begin = 0, end = 0;
    };
    class Marks;
    using Marker = std::function<void(Marks& marks, const Range& own)>;
    Key keyOf(const plan::Loop& loop, const ir::RowClass& rows, std::int64_t size) const;
    Counts batches(const plan::Loop& loop, std::int64_t size);
    Counts owned(const plan::Loop& loop, const ir::RowClass& rows, std::int64_t size);
    Counts frontier(const plan::Loop& loop, ir::SpaceId type, std::int64_t size);
    Marker marker(const plan::FrontierSource& source);

    const analysis::Analysis& m_analysis;
    executor::Structure& m_structure;
    std::map<Key, Counts> m_known;
};

}  // namespace hopscope::forecast

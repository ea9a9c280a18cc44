#pragma once

// Estimates the memory that the unsplit model needs.

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::verify {

using TableSizes = std::map<ir::SpaceId, std::int64_t>;

// Returns the number of rows of a table. Derived tables are estimated: a selection has as many rows as its parent, and
// tables of unknown size grow with the largest table.
std::int64_t tableRows(const analysis::Analysis& analysis, const TableSizes& sizes, ir::SpaceId space);

// Estimates the peak memory of forward in bytes, for the given sizes of node, edge and graph tables. Counts the values
// that are live at the same time, a quarter more for temporary memory of operators, and the process itself. The
// estimate is rather too high: in-place operators count as copies.
class ForwardMemory {
public:
    explicit ForwardMemory(const analysis::Analysis& analysis);
    [[nodiscard]] std::int64_t peak(const TableSizes& sizes) const;

private:
    [[nodiscard]] std::int64_t bytes(ir::ValueId value, const TableSizes& sizes) const;

    const analysis::Analysis& m_analysis;
    std::vector<ir::ValueId> m_made;                // values with memory of their own, in order
    std::vector<std::vector<ir::ValueId>> m_freed;  // by operator: the values that it reads last
};

}  // namespace hopscope::verify

#pragma once

// Estimates the memory that the unsplit model needs.

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::verify {

using TableSizes = std::map<ir::SpaceId, std::int64_t>;

// The number of rows of a table. Derived tables are estimated: a selection counts as its parent, and tables of unknown
// size grow with the largest table.
std::int64_t tableRows(const analysis::Analysis& analysis, const TableSizes& sizes, ir::SpaceId space);

// Estimates the peak memory of forward in bytes: the values that are live at the same time, with `sizes` rows (node,
// edge and graph tables), a quarter more for temporary memory of operators, and the process itself. Errs on the high
// side: in-place operators count as copies.
class ForwardMemory {
public:
    explicit ForwardMemory(const analysis::Analysis& analysis);
    [[nodiscard]] std::int64_t peak(const TableSizes& sizes) const;

private:
    [[nodiscard]] std::int64_t bytes(ir::ValueId value, const TableSizes& sizes) const;

    const analysis::Analysis& m_analysis;
    std::vector<ir::ValueId> m_made;                // values with memory of their own, in order
    std::vector<std::vector<ir::ValueId>> m_freed;  // by operator: values whose last reader it is
};

}  // namespace hopscope::verify

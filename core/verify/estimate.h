#pragma once

// How much memory the unsplit model needs, before it is run.

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/analysis.h"

namespace hopscope::verify {

using TableSizes = std::map<ir::SpaceId, std::int64_t>;

// Rows of a table, derived ones included (a selection counts as its parent; unknown rows grow with the largest table).
std::int64_t tableRows(const analysis::Analysis& analysis, const TableSizes& sizes, ir::SpaceId space);

// Peak bytes of the unsplit forward: the live values of the straight line with their row dimensions at `sizes` (node, edge
// and graph tables), a quarter more for what operators need inside, and the process itself. Meant to be too high rather
// than too low: in-place operators count as copies.
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

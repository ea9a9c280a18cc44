#pragma once

// Private to executor: finds values of the prologue that are certain to be equal, because the same operators compute
// them from the same operands. Layers of a model often derive the same degrees and weights from the edges
// independently.

#include <vector>

#include "analysis/analysis.h"

namespace hopscope::executor {

class SameValues {
public:
    // Linear in the program.
    explicit SameValues(const analysis::Analysis& analysis);

    // Returns the first value of the program that is equal to `value`; `value` itself if there is no earlier one.
    [[nodiscard]] ir::ValueId first(ir::ValueId value) const { return m_first[value.at()]; }

private:
    std::vector<ir::ValueId> m_first;  // by value
};

}  // namespace hopscope::executor

#pragma once

// Private to forecast: interpolates a machine's walls for shapes between the measured ones.

#include <vector>

#include "base/tensor.h"
#include "plan/machine.h"

namespace hopscope::forecast {

// Caches of one size: the cost of a random row that is found in them, but not in smaller ones.
struct CacheLevel {
    double bytes = 0;    // the size of a table that stays in the caches; the last level holds every table
    double seconds = 0;  // per row
};

// If a machine has no walls of a kind (a GPU, a typical machine), its rates are used instead.
class WallTable {
public:
    explicit WallTable(plan::Machine machine);

    [[nodiscard]] const plan::Machine& machine() const { return m_machine; }
    // Bytes per second that operators read and write on tensors of this size.
    [[nodiscard]] double stream(double bytes) const;
    // Operations per second of a product of rows of `columns` numbers with a matrix of `outputs` columns.
    [[nodiscard]] double gemm(double columns, double outputs, base::DType dtype) const;
    // The levels for random rows of `width` bytes, smallest caches first. `kind`: Rows or Segments.
    [[nodiscard]] std::vector<CacheLevel> levels(plan::WallKind kind, double width) const;
    // The rate of a kind without shapes; `otherwise` where it has not been measured.
    [[nodiscard]] double rate(plan::WallKind kind, double otherwise) const;

private:
    [[nodiscard]] double secondsPerRow(plan::WallKind kind, double tableBytes, double width) const;

    plan::Machine m_machine;
};

}  // namespace hopscope::forecast

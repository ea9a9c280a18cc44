#pragma once

// Private to forecast: interpolates a machine's walls for shapes between the measured ones.

#include <vector>

#include "base/tensor.h"
#include "plan/machine.h"

namespace hopscope::forecast {

// A level of caches, with the cost of a random row that is found in it, but not in smaller caches.
struct CacheLevel {
    double bytes = 0;    // the size of a table that stays in the caches; the last level holds every table
    double seconds = 0;  // per row
};

// The walls of a machine. If it has no walls of a kind, like a GPU or a typical machine, its rates are used instead.
class WallTable {
public:
    explicit WallTable(plan::Machine machine);

    [[nodiscard]] const plan::Machine& machine() const { return m_machine; }
    // Returns the bytes per second that operators read and write on tensors of this size.
    [[nodiscard]] double stream(double bytes) const;
    // Returns the operations per second of a product of rows of `columns` numbers with a matrix of `outputs` columns.
    [[nodiscard]] double gemm(double columns, double outputs, base::DType dtype) const;
    // Returns the levels for random rows of `width` bytes, smallest caches first. `kind` is Rows or Segments.
    [[nodiscard]] std::vector<CacheLevel> levels(plan::WallKind kind, double width) const;
    // Returns the rate of a kind without shapes, or `otherwise` if it has not been measured.
    [[nodiscard]] double rate(plan::WallKind kind, double otherwise) const;

private:
    [[nodiscard]] double secondsPerRow(plan::WallKind kind, double tableBytes, double width) const;

    plan::Machine m_machine;
};

}  // namespace hopscope::forecast

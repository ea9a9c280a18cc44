#pragma once

// Tells the system how mapped memory will be read.

#include <cstddef>

#include "base/tensor.h"

namespace hopscope::base {

// While it lasts, rows of a large tensor are read here and there: where it is a mapped file, each access brings in its own
// page and not the megabytes around it. No other object for the same tensor may exist.
class ScatteredReads {
public:
    explicit ScatteredReads(const TensorView& view);
    ~ScatteredReads();
    ScatteredReads(const ScatteredReads&) = delete;
    ScatteredReads& operator=(const ScatteredReads&) = delete;

private:
    void advise(int advice) const;
    void* m_first = nullptr;  // whole pages
    std::size_t m_bytes = 0;
};

}  // namespace hopscope::base

#pragma once

// Advises the system how mapped memory will be read.

#include <cstddef>

#include "base/tensor.h"

namespace hopscope::base {

// While it exists, rows of a large tensor are read in random order: in a mapped file, each access then loads its own
// page instead of the megabytes around it. No other object for the same tensor may exist.
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

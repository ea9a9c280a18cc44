#pragma once

// Advises the system how mapped memory will be read.

#include <cstddef>

#include "base/tensor.h"

namespace hopscope::base {

// Declares, for its lifetime, that rows of a tensor are read in random order. In a mapped file, each access then loads
// only its own page, and none of those around it. Has no effect on tensors that are smaller than 64 MiB or not
// contiguous. At most one object may exist for a tensor.
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

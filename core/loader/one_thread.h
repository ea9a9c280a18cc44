#pragma once

// Operators on a few rows: sharing them out would wake other threads for each, which costs several times the work.

#include <ATen/Parallel.h>

namespace hopscope::loader {

// While alive, LibTorch uses the calling thread alone.
class OneThread {
public:
    OneThread() { at::set_num_threads(1); }
    ~OneThread() { at::set_num_threads(m_before); }
    OneThread(const OneThread&) = delete;
    OneThread& operator=(const OneThread&) = delete;

private:
    int m_before = at::get_num_threads();
};

}  // namespace hopscope::loader

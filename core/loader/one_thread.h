#pragma once

// Restricts LibTorch to one thread, for operators on a few rows: distributing such an operator over threads takes
// several times as long as computing it.

#include <ATen/Parallel.h>

namespace hopscope::loader {

// While an instance exists, LibTorch computes on the calling thread only. The destructor restores the number of
// threads.
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

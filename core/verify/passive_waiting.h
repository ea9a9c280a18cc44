#pragma once

// The way in which threads of OpenMP wait for each other. They spin for milliseconds before they sleep, which saves
// microseconds on idle cores; on busy ones each operator of a small model costs those milliseconds of a core.

#include <latch>
#include <thread>

namespace hopscope::verify {

// While it exists, they sleep after some microseconds. GCC's runtime does so if it has more threads than cores (see
// GOMP_SPINCOUNT in its manual): a team of extra threads sleeps until this object is destroyed.
class PassiveWaiting {
public:
    PassiveWaiting();

private:
    std::latch m_asleep{1};
    std::jthread m_idle;
};

}  // namespace hopscope::verify

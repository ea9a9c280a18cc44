#pragma once

// Makes OpenMP threads that wait for each other sleep early. By default, they spin for milliseconds first. That saves
// microseconds on idle cores, but on busy ones each operator of a small model costs milliseconds of a core.

#include <latch>
#include <thread>

namespace hopscope::verify {

// Makes waiting threads sleep after some microseconds while this object exists. GCC's runtime does so if it has more
// threads than cores (see GOMP_SPINCOUNT in its manual): a team of extra threads sleeps until this object is destroyed.
class PassiveWaiting {
public:
    PassiveWaiting();

private:
    std::latch m_asleep{1};
    std::jthread m_idle;
};

}  // namespace hopscope::verify

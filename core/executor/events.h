#pragma once

// Defines the events of a run, for the progress line in the terminal, the report, the trace and the window. Calls are
// made one at a time, on several GPUs by different threads. On a GPU, phases of different batches overlap. Batches of several
// GPUs are reported in the order of their destinations.

#include <cstdint>
#include <string>

#include "plan/figures.h"

namespace hopscope::executor {

using plan::Phase, plan::phaseCount;

struct StageEvent {
    plan::StageId index{1};
    int count = 1;                  // stages in the plan
    std::int64_t destinations = 0;  // over all loops of the stage
};

// A finished batch, or several that are reported at once.
struct BatchEvent {
    plan::StageId stage{1};
    std::string loop;        // destination type
    std::int64_t batch = 0;  // number within the loop, from 0
    std::int64_t destinations = 0, edges = 0, frontier = 0;
    std::int64_t done = 0, total = 0;         // destinations of the stage
    std::int64_t memory = 0, peakMemory = 0;  // bytes on the device: now, and the peak of the batch
    std::int64_t reservedMemory = 0;          // GPU: peak of the bytes that the allocator reserved
};

struct PhaseEvent {
    plan::StageId stage{1};
    std::int64_t batch = 0;
    Phase phase = Phase::Compute;
    double start = 0, seconds = 0;  // start: since the run began
    int device = 0;                 // of several GPUs: its place in Options::device, from 0
};

class Observer {
public:
    virtual ~Observer() = default;
    virtual void prologueStarted() {}
    virtual void prologueFinished(double /*seconds*/) {}
    virtual void stageStarted(const StageEvent&) {}
    virtual void stageFinished(plan::StageId /*stage*/, double /*seconds*/) {}
    virtual void batchFinished(const BatchEvent&) {}
    virtual void phaseFinished(const PhaseEvent&) {}
    virtual void note(const std::string& /*sentence*/) {}
};

}  // namespace hopscope::executor

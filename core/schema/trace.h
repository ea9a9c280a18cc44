#pragma once

// Makes the events of a trace in Chrome's format (chrome://tracing, Perfetto), with a lane for the stages and one for each
// phase; of several GPUs, the others have processes of their own with such lanes. `start` and `time` are in seconds since the run began; `seconds` is a duration.

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/stage_id.h"
#include "json/json.h"

namespace hopscope::schema {

// Returns one event for each lane, with its name. These events come before others of the lanes. `device` is the GPU's
// place among several, from 0.
json::Array traceLanes(int device = 0);

json::Value traceStage(plan::StageId stage, double start, double seconds);
// `phase` is an index into namedPhases.
json::Value tracePhase(std::size_t phase, plan::StageId stage, std::int64_t batch, double start, double seconds,
                       int device = 0);
// Returns a sample of the current memory and the peak memory on the device, in bytes.
json::Value traceMemory(double time, std::int64_t bytes, std::int64_t peak);

// Whether a mark is shown in the lane of the stages or across all lanes.
enum class TraceMark : std::uint8_t { Lane, Everywhere };
json::Value traceMark(const std::string& name, double time, TraceMark mark);

}  // namespace hopscope::schema

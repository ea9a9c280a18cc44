#pragma once

// Events of a run in Chrome's trace format (chrome://tracing, Perfetto): a lane for the stages and one for each phase.
// All times are in seconds since the run began.

#include <cstddef>
#include <cstdint>
#include <string>

#include "plan/stage_id.h"
#include "json/json.h"

namespace hopscope::schema {

// The names of the lanes, one event each; they come first.
json::Array traceLanes();

json::Value traceStage(plan::StageId stage, double start, double seconds);
// `phase`: its position in namedPhases.
json::Value tracePhase(std::size_t phase, plan::StageId stage, std::int64_t batch, double start, double seconds);
// A curve of the memory on the device: current and peak.
json::Value traceMemory(double time, std::int64_t bytes, std::int64_t peak);

// A mark in the lane of the stages, or across all lanes.
enum class TraceMark : std::uint8_t { Lane, Everywhere };
json::Value traceMark(const std::string& name, double time, TraceMark mark);

}  // namespace hopscope::schema

#pragma once

// Chooses between the CPU and a GPU for runs with the device "auto".

#include "pipeline/planning/planner.h"

namespace hopscope::pipeline {

struct DeviceChoice {
    PlanAnswer answer;  // the plan for the chosen device, which it names
    std::string note;   // one sentence: which device and why
};

// Returns the seconds until this process can use a GPU: measured by `bench machine`, or typical. 0 if it has used one.
double startSeconds(const std::string& gpu);

// Chooses the CPU, or the GPU of the request, by the predicted seconds of the plan for each of them. Those of the GPU
// include the seconds of its start. No plan for the GPU is made, and no CUDA context, if the
// CPU is predicted to take less time than the start alone. If only one of them can have a plan, that one is chosen; if
// none can, fails as planFor() does for the GPU. Fails with Cancelled.
base::Result<DeviceChoice> chooseDevice(const Planning& planning, double start);

// Returns whether a request leaves such a choice: `wanted` is "auto", there is a GPU, the objective is time, and there are
// data. Where bytes are minimised, the plan must not depend on measured rates.
bool choosesDevice(const Prepared& prepared, const std::string& wanted, const PlanRequest& request);

}  // namespace hopscope::pipeline

#pragma once

// Devices for users: the list, and the device that a plan from elsewhere runs on.

#include <string>
#include <vector>

#include "base/result.h"
#include "executor/executor.h"
#include "plan/plan.h"
#include "json/json.h"

namespace hopscope::pipeline {

// The devices that this machine can compute on, and the reasons why others cannot be used.
struct Devices {
    std::vector<executor::DeviceInfo> usable;  // the CPU first
    std::vector<std::string> missing;          // sentences
};
Devices findDevices();

// {devices: [{id, name, memory, driver}], missing: [..], confinement: confine::state()}: `devices --json`. The answer to
// `initialize` takes the first two.
json::Value devicesValue(const Devices& devices);

// Sets the device that a plan made elsewhere runs on: the one that is `wanted` (fails with Usage if it does not exist)
// or, with "auto", the plan's own. If that does not exist, the one that `auto` stands for is used, and a sentence is
// added to `notes`.
base::Status placePlan(plan::Plan& plan, const std::string& wanted, std::vector<std::string>& notes);

}  // namespace hopscope::pipeline

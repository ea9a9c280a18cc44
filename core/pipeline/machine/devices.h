#pragma once

// Lists the devices for users, and chooses the device for a plan that was made elsewhere.

#include <string>
#include <vector>

#include "base/result.h"
#include "executor/executor.h"
#include "plan/plan.h"
#include "json/json.h"

namespace hopscope::pipeline {

// The usable devices of this machine, and the reasons why others cannot be used.
struct Devices {
    std::vector<executor::DeviceInfo> usable;  // the CPU first
    std::vector<std::string> missing;          // sentences
};
Devices findDevices();

// Returns the document that `devices --json` prints: {devices: [{id, name, memory, driver}], missing: [..],
// confinement: confine::state()}. The answer to `initialize` contains the first two members.
json::Value devicesValue(const Devices& devices);

// Sets the device of a plan that was made elsewhere to `wanted`. With "auto", the plan keeps its device; if that cannot
// be used, the plan gets the default device, with a sentence in `notes`. Fails with Usage if `wanted` cannot be used.
base::Status placePlan(plan::Plan& plan, const std::string& wanted, std::vector<std::string>& notes);

}  // namespace hopscope::pipeline

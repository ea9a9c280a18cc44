#include "pipeline/machine/devices.h"

#include "confine/confine.h"

namespace hopscope::pipeline {

namespace {

json::Value deviceValue(const executor::DeviceInfo& device)
{
    json::Value item;
    item["id"] = device.id;
    item["name"] = device.name;
    item["memory"] = device.memory;
    item["driver"] = device.driver;
    return item;
}

}  // namespace

Devices findDevices() { return {executor::listDevices(), executor::listGpus().missing}; }

json::Value devicesValue(const Devices& devices)
{
    json::Value document;
    document["devices"] = json::Value::array();
    for (const executor::DeviceInfo& device : devices.usable) document["devices"].push(deviceValue(device));
    document["missing"] = json::Value(devices.missing);
    document["confinement"] = confine::state();
    return document;
}

base::Status placePlan(plan::Plan& plan, const std::string& wanted, std::vector<std::string>& notes)
{
    const base::Result<std::string> resolved = executor::resolveDevice(wanted == "auto" ? plan.device : wanted);
    if (!resolved && wanted != "auto") return base::forward(resolved);
    if (resolved) {
        plan.device = *resolved;
        return {};
    }
    const base::Result<std::string> other = executor::resolveDevice("auto");
    if (!other) return base::forward(other);
    notes.push_back("the plan was made for " + plan.device + ", but " + resolved.error().message + "; it runs on " +
                    *other);
    plan.device = *other;
    return {};
}

}  // namespace hopscope::pipeline

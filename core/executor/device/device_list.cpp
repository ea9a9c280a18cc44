#include <algorithm>
#include <string>

#include "base/proc.h"
#include "base/units.h"
#include "executor/device/accelerator.h"
#include "executor/executor.h"

namespace hopscope::executor {

namespace {

DeviceInfo cpuDevice()
{
    const std::string name = base::processorName();
    return {.id = "cpu", .name = name.empty() ? "CPU" : name, .memory = base::totalMemory(), .driver = {}};
}

// "cuda:0 (NVIDIA H100, 79.1 GiB)"
std::string described(const DeviceInfo& device)
{
    const std::string size = device.memory > 0 ? ", " + base::formatBytes(static_cast<double>(device.memory)) : "";
    return device.id + " (" + device.name + size + ")";
}

// "cuda:0 (...) and cuda:1 (...) are the only usable ones"
std::string whatThereIs(const std::vector<DeviceInfo>& gpus)
{
    std::string text;
    for (std::size_t i = 0; i < gpus.size(); ++i)
        text += (i == 0 ? "" : i + 1 == gpus.size() ? " and " : ", ") + described(gpus[i]);
    return text + (gpus.size() == 1 ? " is the only one" : " are the only usable ones");
}

std::string joined(const std::vector<std::string>& parts, const std::string& separator)
{
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
    return text;
}

// "cuda" and "cuda:N"; anything else names no device.
bool namesGpu(const std::string& wanted)
{
    const std::string number = wanted.starts_with("cuda:") ? wanted.substr(5) : wanted == "cuda" ? "0" : "";
    return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
}

std::string whyNot(const std::string& wanted, const GpuListing& gpus)
{
    if (!namesGpu(wanted)) return "unknown device " + wanted;
    if (!gpus.usable.empty())
        return "there is no GPU " + wanted + " here that can be used: " + whatThereIs(gpus.usable);
    if (!gpus.missing.empty()) return "no GPU can be used: " + joined(gpus.missing, "; ");
    return "there is no GPU " + wanted + " here";
}

}  // namespace

GpuListing listGpus() { return accelerator().list(); }

std::vector<DeviceInfo> listDevices()
{
    std::vector<DeviceInfo> devices{cpuDevice()};
    for (DeviceInfo& gpu : listGpus().usable) devices.push_back(std::move(gpu));
    return devices;
}

std::vector<std::string> devicesOf(const std::string& devices)
{
    std::vector<std::string> found{""};
    for (const char c : devices)
        if (c == ',') found.emplace_back();
        else found.back() += c;
    return found;
}

namespace {

constexpr const char* devicesHint = "use --device auto, cpu, cuda, cuda:N, or several GPUs, as in cuda:0,cuda:1";

base::Result<std::string> resolveOne(const std::string& wanted)
{
    const GpuListing gpus = listGpus();
    if (wanted == "auto" && gpus.usable.empty()) return std::string("cpu");
    if ((wanted == "auto" || wanted == "cuda") && !gpus.usable.empty()) return gpus.usable.front().id;
    if (std::ranges::any_of(gpus.usable, [&](const DeviceInfo& gpu) { return gpu.id == wanted; })) return wanted;
    return base::fail(base::ErrorCode::Usage, whyNot(wanted, gpus), devicesHint);
}

}  // namespace

base::Result<std::string> resolveDevice(const std::string& wanted)
{
    if (wanted == "cpu") return wanted;
    const std::vector<std::string> names = devicesOf(wanted);
    if (names.size() == 1) return resolveOne(wanted);
    std::vector<std::string> found;
    for (const std::string& name : names) {
        if (name.empty())
            return base::fail(base::ErrorCode::Usage, "a name is missing in the list of devices " + wanted,
                              devicesHint);
        if (name == "cpu" || name == "auto")
            return base::fail(base::ErrorCode::Usage,
                              "several devices must be GPUs, and " + name + " is not the name of one", devicesHint);
        base::Result<std::string> gpu = resolveOne(name);
        if (!gpu) return gpu;
        if (std::ranges::find(found, *gpu) != found.end())
            return base::fail(base::ErrorCode::Usage, *gpu + " is named twice", "name each GPU once");
        found.push_back(std::move(*gpu));
    }
    return joined(found, ",");
}

}  // namespace hopscope::executor

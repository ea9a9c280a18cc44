#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include "base/proc.h"
#include "executor/executor.h"

namespace hopscope::executor {

namespace {

std::string gpuText(const std::string& device)
{
    for (const DeviceInfo& gpu : listGpus().usable)
        if (gpu.id == device) return gpu.name + ", " + gpu.computes;
    return "none";
}

}  // namespace

std::map<std::string, std::string> fingerprint(const std::string& device)
{
    return {{"cpu", base::processorName()},
            {"gpu", device == "cpu" ? "none" : gpuText(device)},
            {"instructions", at::get_cpu_capability()},
            {"threads", std::to_string(at::get_num_threads())},
            {"torch", TORCH_VERSION}};
}

Cores::Cores(int count) : m_before(at::get_num_threads())
{
    if (count > 0) at::set_num_threads(count);
}

Cores::~Cores() { at::set_num_threads(m_before); }

}  // namespace hopscope::executor

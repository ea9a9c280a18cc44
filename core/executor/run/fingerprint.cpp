#include <algorithm>
#include <set>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include "base/proc.h"
#include "executor/executor.h"

namespace hopscope::executor {

namespace {

// Several GPUs of one kind compute the bits of one of them.
std::string gpuText(const std::string& devices)
{
    std::set<std::string> kinds;
    const std::vector<std::string> wanted = devicesOf(devices);
    for (const DeviceInfo& gpu : listGpus().usable)
        if (std::ranges::find(wanted, gpu.id) != wanted.end()) kinds.insert(gpu.name + ", " + gpu.computes);
    std::string text;
    for (const std::string& kind : kinds) text += (text.empty() ? "" : "; ") + kind;
    return text.empty() ? "none" : text;
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

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include "base/proc.h"
#include "executor/executor.h"

namespace hopscope::executor {

std::map<std::string, std::string> fingerprint()
{
    return {{"cpu", base::processorName()},
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

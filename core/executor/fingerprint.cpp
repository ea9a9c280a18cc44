#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include "base/proc.h"
#include "executor/journal.h"

namespace hopscope::executor {

std::map<std::string, std::string> fingerprint()
{
    return {{"cpu", base::processorName()},
            {"instructions", at::get_cpu_capability()},
            {"threads", std::to_string(at::get_num_threads())},
            {"torch", TORCH_VERSION}};
}

}  // namespace hopscope::executor

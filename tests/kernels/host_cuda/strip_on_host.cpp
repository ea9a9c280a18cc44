#include "kernels/host_cuda/strip_on_host.h"

// Under another name, so that a program can hold both.
#define launchStrips launchStripsOnHost
#include "kernels/strip.cu"

namespace hopscope::kernels {

int stripOnHost(const StripProgram& program, const StripArguments& arguments, void* stream)
{
    return arguments.destinations == 0 ? 0 : launchStripsOnHost(stripLaunch(program, arguments), stream);
}

int readStripOnHost(const StripProgram& program, const StripArguments& arguments)
{
    return launchStripsOnHost(stripLaunch(program, arguments, kNoShape), nullptr);
}

}  // namespace hopscope::kernels

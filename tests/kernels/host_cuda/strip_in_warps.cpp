#define HOPSCOPE_WARPS

#include "kernels/host_cuda/strip_in_warps.h"

// Under another name, so that a program can hold both.
#define launchStrips launchStripsInWarps
#include "kernels/strip.cu"

namespace hopscope::kernels {

int stripInWarps(const StripProgram& program, const StripArguments& arguments, int shape)
{
    hostCuda.inWarps = true;
    const int code = launchStripsInWarps(stripLaunch(program, arguments, shape), nullptr);
    hostCuda.inWarps = false;
    return code;
}

}  // namespace hopscope::kernels

#include "executor/device/cuda_list.h"

#include <dlfcn.h>

#include <ATen/detail/CUDAHooksInterface.h>

#include "gpu/usable.h"

namespace hopscope::executor {

namespace {

// The CUDA version that LibTorch was compiled for, as gpu::Build takes it. The loader leaves libtorch_cuda out of a program
// that names none of its symbols.
int torchCuda()
{
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) return 0;
    try {
        return static_cast<int>(at::detail::getCUDAHooks().versionCUDART());
    } catch (const std::exception&) {  // it is there and does not say
        return 1;
    }
}

}  // namespace

GpuListing listCudaGpus()
{
    static const int cuda = torchCuda();
    const gpu::Driver driver = gpu::readDriver();
    gpu::Choice choice = gpu::choose(driver, gpu::thisBuild(cuda));
    GpuListing listing{{}, std::move(choice.missing)};
    for (const gpu::Usable& item : choice.usable)
        listing.usable.push_back({.id = "cuda:" + std::to_string(item.index),
                                  .name = item.gpu.name,
                                  .memory = item.gpu.memory,
                                  .driver = gpu::driverText(driver),
                                  .computes = "compute capability " + std::to_string(item.gpu.major) + "." +
                                              std::to_string(item.gpu.minor) + ", CUDA " + gpu::cudaText(cuda)});
    return listing;
}

}  // namespace hopscope::executor

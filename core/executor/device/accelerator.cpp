#include "executor/device/accelerator.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include <ATen/Context.h>

#include "executor/device/cuda_list.h"
#include "executor/device/memory_fraction.h"
#include "gpu/driver.h"

namespace hopscope::executor {

namespace {

// cuBLAS repeats its sums in the same order only with a workspace of fixed size, which it reads when it is made. Set
// before main: later, other threads may be reading the environment.
[[maybe_unused]] const int fixedWorkspace = ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);

// The loader leaves libtorch_cuda out of a program that names none of its symbols.
void loadCuda()
{
    static std::once_flag once;
    std::call_once(once, [] { ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL); });
}

class Cuda final : public Accelerator {
public:
    [[nodiscard]] c10::DeviceType type() const override { return c10::DeviceType::CUDA; }

    [[nodiscard]] GpuListing list() const override { return listCudaGpus(); }

    void initialise() const override
    {
        loadCuda();
        at::globalContext().lazyInitDevice(type());
    }

    bool limitMemory(c10::DeviceIndex device, std::int64_t bytes) const override
    {
        return limitCudaMemory(device, bytes);
    }

    [[nodiscard]] bool reaches(c10::DeviceIndex from, c10::DeviceIndex to) const override
    {
        return gpu::reaches(from, to);
    }

    bool readsHostRows() const override
    {
#ifdef HOPSCOPE_CUDA
        return true;
#else
        return false;
#endif
    }

    int segment(const kernels::SegmentArguments& arguments, void* stream) const override
    {
        return kernels::segmentCuda(arguments, stream);
    }

    int strips(const kernels::StripProgram& program, const kernels::StripArguments& arguments,
               void* stream) const override
    {
        return kernels::stripCuda(program, arguments, stream);
    }
};

const Accelerator*& chosen()
{
    static const Cuda cuda;
    static const Accelerator* current = &cuda;
    return current;
}

}  // namespace

const Accelerator& accelerator() { return *chosen(); }

void replaceAccelerator(const Accelerator& other) { chosen() = &other; }

}  // namespace hopscope::executor

#include "gpu/usable.h"

#include <algorithm>
#include <optional>

namespace hopscope::gpu {

namespace {

// CUresults that say what to do.
constexpr int noDevice = 100, refusedBySystem = 304, notYetReady = 802, driverMismatch = 803, unknown = 999;
// CUDA 13 has no code for anything older.
constexpr int oldestOfCuda13 = 75, cuda13 = 13000;

using Reason = std::optional<std::string>;

bool nothingThere(const Driver& driver) { return driver.hardware == 0 && driver.gpus.empty(); }

std::string theGpus(const Driver& driver)
{
    const std::size_t count = std::max(static_cast<std::size_t>(driver.hardware), driver.gpus.size());
    return count == 1 ? "an NVIDIA GPU" : std::to_string(count) + " NVIDIA GPUs";
}

Reason noDriver(const Driver& driver)
{
    if (driver.library || driver.loaded || nothingThere(driver)) return {};
    return "this machine has " + theGpus(driver) +
           " but no NVIDIA driver: install it (Debian: nvidia-driver) and reboot";
}

Reason noLibrary(const Driver& driver)
{
    if (driver.library || !driver.loaded || nothingThere(driver)) return {};
    const std::string version = driver.version.empty() ? "" : " " + driver.version;
    return "NVIDIA's driver" + version +
           " is loaded, but its library libcuda.so.1 is not found: a container has to be started with access to the "
           "GPU "
           "(docker run --gpus all); elsewhere install the driver's CUDA part (Debian: libcuda1)";
}

bool hidden(const Driver& driver)
{
    const bool none = driver.initResult == noDevice || (driver.initResult == 0 && driver.gpus.empty());
    return driver.library && driver.hiding && none && driver.hardware > 0;
}

Reason hiddenByUser(const Driver& driver)
{
    if (!hidden(driver)) return {};
    return "CUDA_VISIBLE_DEVICES is '" + driver.visibleDevices +
           "', which hides every GPU: unset it, or name an existing one";
}

std::string initHint(int result)
{
    if (result == driverMismatch) return "the driver was updated: reboot";
    if (result == notYetReady) return "the GPUs are not ready: is nvidia-fabricmanager running?";
    // Outside of the sandbox, the driver also makes its device files, if no program has used it since the machine started.
    if (result == refusedBySystem || result == unknown)
        return "check nvidia-smi; if that lists the GPU, try again without the sandbox";
    return "check nvidia-smi; a reboot may help";
}

Reason initFailed(const Driver& driver)
{
    if (!driver.library || driver.initResult == 0 || hidden(driver) || nothingThere(driver)) return {};
    return "the NVIDIA driver cannot be initialised: " + driver.initText + "; " + initHint(driver.initResult);
}

Reason nothingListed(const Driver& driver)
{
    if (!driver.library || driver.initResult != 0 || !driver.gpus.empty() || hidden(driver) || nothingThere(driver))
        return {};
    return "this machine has " + theGpus(driver) + ", but NVIDIA's driver lists none: check nvidia-smi";
}

// The oldest driver that serves any CUDA of a major version.
std::string oldestDriver(int cuda)
{
    switch (cuda / 1000) {
    case 11: return "450";
    case 12: return "525";
    case 13: return "580";
    default: return "";
    }
}

Reason driverTooOld(const Driver& driver, const Build& build)
{
    if (nothingThere(driver) || driver.cudaVersion == 0 || driver.cudaVersion / 1000 >= build.torchCuda / 1000)
        return {};
    const std::string version = driver.version.empty() ? "" : " " + driver.version;
    const std::string needed = oldestDriver(build.torchCuda);
    return "NVIDIA's driver" + version + " supports CUDA up to " + cudaText(driver.cudaVersion) +
           " and is too old for this LibTorch, which was built for CUDA " + cudaText(build.torchCuda) +
           ": install driver " + (needed.empty() ? "for that" : needed + " or newer") +
           ", or choose a LibTorch for CUDA " + std::to_string(driver.cudaVersion / 1000) +
           " with HOPSCOPE_TORCH_ROOT and rebuild";
}

Reason torchWithoutCuda(const Driver& driver, const Build& build)
{
    if (nothingThere(driver) || build.torchCuda != 0) return {};
    return std::string("LibTorch was built without CUDA: install the package with it (pip install torch==2.13.0 from "
                       "the ordinary index, "
                       "several gigabytes), or choose one with HOPSCOPE_TORCH_ROOT, and rebuild");
}

int capability(const Gpu& gpu) { return gpu.major * 10 + gpu.minor; }

std::string dotted(int capability) { return std::to_string(capability / 10) + "." + std::to_string(capability % 10); }

std::string named(const Usable& item)
{
    return "cuda:" + std::to_string(item.index) + " (" + item.gpu.name + ", compute capability " +
           dotted(capability(item.gpu)) + ")";
}

bool tooOld(const Gpu& gpu, const Build& build)
{
    return build.torchCuda >= cuda13 && capability(gpu) > 0 && capability(gpu) < oldestOfCuda13;
}

std::string tooOldText(const Usable& item, const Build& build)
{
    return named(item) + " is too old for CUDA " + cudaText(build.torchCuda) + ", for which this LibTorch was built (" +
           dotted(oldestOfCuda13) +
           " or newer): a LibTorch for CUDA 12 may support it; choose one with HOPSCOPE_TORCH_ROOT, and rebuild";
}

// A reason that only slows a run down.
Reason slower(const Usable& item, const Build& build)
{
    if (capability(item.gpu) == 0 || capability(item.gpu) >= build.oldestKernel) return {};
    return named(item) + " is older than what the kernels were compiled for (" + dotted(build.oldestKernel) +
           "): runs on it use LibTorch's general operators, which are slower";
}

void chooseEach(const Driver& driver, const Build& build, Choice& choice)
{
    for (std::size_t i = 0; i < driver.gpus.size(); ++i) {
        const Usable item{static_cast<int>(i), driver.gpus[i]};
        if (tooOld(item.gpu, build)) {
            choice.missing.push_back(tooOldText(item, build));
            continue;
        }
        choice.usable.push_back(item);
        if (const Reason reason = slower(item, build)) choice.missing.push_back(*reason);
    }
    if (!choice.usable.empty() && build.oldestKernel == 0)
        choice.missing.emplace_back(
            "the CUDA kernels were not compiled (no nvcc, or HOPSCOPE_CUDA is off): runs on a GPU "
            "use LibTorch's general "
            "operators, which are slower; run packaging/setup.sh and rebuild");
}

}  // namespace

Build thisBuild(int torchCuda) { return {torchCuda, HOPSCOPE_OLDEST_KERNEL}; }

Choice choose(const Driver& driver, const Build& build)
{
    Choice choice;
    for (const Reason& reason : {noDriver(driver), noLibrary(driver), hiddenByUser(driver), initFailed(driver),
                                 nothingListed(driver), torchWithoutCuda(driver, build), driverTooOld(driver, build)})
        if (reason) choice.missing.push_back(*reason);
    if (choice.missing.empty()) chooseEach(driver, build, choice);
    return choice;
}

}  // namespace hopscope::gpu

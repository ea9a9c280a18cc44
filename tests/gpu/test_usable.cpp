#include <doctest/doctest.h>

#include "gpu/usable.h"

using namespace hopscope;

namespace {

const gpu::Gpu hopper{"NVIDIA H100", 85899345920, 9, 0};
const gpu::Gpu pascal{"Tesla P100", 17179869184, 6, 0};
const gpu::Build cuda13{13000, 75};

gpu::Driver working(std::vector<gpu::Gpu> gpus)
{
    gpu::Driver driver;
    driver.hardware = static_cast<int>(gpus.size());
    driver.loaded = driver.library = true;
    driver.version = "580.65.06";
    driver.cudaVersion = 13000;
    driver.gpus = std::move(gpus);
    return driver;
}

gpu::Driver failing(int result, const std::string& text)
{
    gpu::Driver driver = working({});
    driver.hardware = 1;
    driver.initResult = result;
    driver.initText = text;
    return driver;
}

// The one sentence, in which every one of `words` stands; nothing is usable.
void refuses(const gpu::Driver& driver, const gpu::Build& build, const std::vector<std::string>& words)
{
    const gpu::Choice choice = gpu::choose(driver, build);
    CHECK(choice.usable.empty());
    REQUIRE(choice.missing.size() == 1);
    CAPTURE(choice.missing[0]);
    for (const std::string& word : words) {
        CAPTURE(word);
        CHECK(choice.missing[0].find(word) != std::string::npos);
    }
}

// All of them usable, with one sentence beside.
void notes(const gpu::Driver& driver, const gpu::Build& build, const std::vector<std::string>& words)
{
    const gpu::Choice choice = gpu::choose(driver, build);
    CHECK(choice.usable.size() == driver.gpus.size());
    REQUIRE(choice.missing.size() == 1);
    CAPTURE(choice.missing[0]);
    for (const std::string& word : words) CHECK(choice.missing[0].find(word) != std::string::npos);
}

}  // namespace

TEST_CASE("a working driver's GPUs are usable in its order, and nothing is said")
{
    const gpu::Choice choice = gpu::choose(working({hopper, hopper}), cuda13);
    REQUIRE(choice.usable.size() == 2);
    CHECK(choice.usable[1].index == 1);
    CHECK(choice.usable[1].gpu.name == "NVIDIA H100");
    CHECK(choice.missing.empty());
}

TEST_CASE("a machine without NVIDIA hardware has nothing to hear, whatever is installed")
{
    CHECK(gpu::choose({}, {0, 0}).missing.empty());
    CHECK(gpu::choose({}, cuda13).missing.empty());
    gpu::Driver library = failing(100, "no device");
    library.hardware = 0;
    CHECK(gpu::choose(library, {0, 0}).missing.empty());
    library.hiding = true;
    CHECK(gpu::choose(library, cuda13).missing.empty());
}

TEST_CASE("hardware without a driver is told to install one")
{
    gpu::Driver driver;
    driver.hardware = 2;
    refuses(driver, cuda13, {"2 NVIDIA GPUs", "no NVIDIA driver", "install"});
    driver.hardware = 1;
    refuses(driver, cuda13, {"an NVIDIA GPU"});
}

TEST_CASE("a container without access to the GPU is told how to get it")
{
    gpu::Driver driver;
    driver.hardware = 1;
    driver.loaded = true;
    driver.version = "580.65.06";
    refuses(driver, cuda13, {"580.65.06", "libcuda.so.1", "--gpus all", "libcuda1"});
}

TEST_CASE("a driver that is too old for LibTorch's CUDA is named with both versions and what to do")
{
    gpu::Driver driver = working({hopper});
    driver.version = "535.54.03";
    driver.cudaVersion = 12020;
    refuses(driver, cuda13, {"535.54.03", "CUDA up to 12.2", "CUDA 13.0", "580 or newer", "HOPSCOPE_TORCH_ROOT"});
    refuses(driver, {14000, 75}, {"CUDA 14.0"});
    driver.cudaVersion = 11040;
    refuses(driver, {12060, 75}, {"525 or newer"});
}

TEST_CASE("a driver of the same major version serves a newer CUDA, and a newer driver an older one")
{
    gpu::Driver driver = working({hopper});
    CHECK(gpu::choose(driver, {13020, 75}).usable.size() == 1);
    CHECK(gpu::choose(driver, {12060, 75}).usable.size() == 1);
    CHECK(gpu::choose(driver, {1, 75}).usable.size() == 1);
}

TEST_CASE("a LibTorch without CUDA says which package has it")
{
    refuses(working({hopper}), {0, 75}, {"without CUDA", "pip install", "HOPSCOPE_TORCH_ROOT"});
}

TEST_CASE("everything that stands in the way is said at once")
{
    gpu::Driver driver;
    driver.hardware = 1;
    CHECK(gpu::choose(driver, {0, 75}).missing.size() == 2);
}

TEST_CASE("CUDA_VISIBLE_DEVICES that hides every GPU is named")
{
    gpu::Driver driver = failing(100, "no CUDA-capable device is detected (error 100)");
    driver.hiding = true;
    driver.visibleDevices.assign(1, '7');
    refuses(driver, cuda13, {"CUDA_VISIBLE_DEVICES", "'7'"});
    driver.initResult = 0;
    refuses(driver, cuda13, {"CUDA_VISIBLE_DEVICES"});
}

TEST_CASE("a driver that cannot start is quoted, with what may help")
{
    refuses(failing(803, "mismatch (error 803)"), cuda13, {"mismatch (error 803)", "reboot"});
    refuses(failing(802, "not yet (error 802)"), cuda13, {"fabricmanager"});
    refuses(failing(999, "unknown error (error 999)"), cuda13, {"unknown error (error 999)", "nvidia-smi"});
    refuses(failing(304, "OS call failed (error 304)"), cuda13, {"OS call failed", "without the sandbox"});
    refuses(failing(46, "devices unavailable (error 46)"), cuda13, {"nvidia-smi; a reboot may help"});
    refuses(failing(0, ""), cuda13, {"lists none"});
}

TEST_CASE("kernels that were not compiled slow a run down and no more")
{
    notes(working({hopper, hopper}), {13000, 0}, {"nvcc", "slower", "packaging/setup.sh"});
}

TEST_CASE("a GPU that is too old for CUDA 13 is left out, and the others keep their numbers")
{
    const gpu::Choice choice = gpu::choose(working({pascal, hopper}), cuda13);
    REQUIRE(choice.usable.size() == 1);
    CHECK(choice.usable[0].index == 1);
    REQUIRE(choice.missing.size() == 1);
    CHECK(choice.missing[0].starts_with("cuda:0 (Tesla P100, compute capability 6.0) is too old"));
}

TEST_CASE("an older GPU that LibTorch serves runs without the kernels")
{
    notes(working({pascal}), {12060, 75}, {"cuda:0 (Tesla P100", "6.0", "7.5", "slower"});
}

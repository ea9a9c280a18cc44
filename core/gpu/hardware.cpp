#include "gpu/hardware.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace hopscope::gpu {

namespace {

namespace fs = std::filesystem;

std::string firstLine(const fs::path& file)
{
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

template <class Predicate>
int countEntries(const fs::path& folder, Predicate&& counts)
{
    std::error_code problem;
    int count = 0;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
        count += counts(entry->path()) ? 1 : 0;
    return count;
}

// A display or 3D controller of NVIDIA's.
bool isGpu(const fs::path& device)
{
    return firstLine(device / "vendor") == "0x10de" && firstLine(device / "class").starts_with("0x03");
}

// "nvidia0", but not "nvidiactl" or "nvidia-uvm".
bool isGpuFile(const fs::path& file)
{
    const std::string name = file.filename().string();
    return name.starts_with("nvidia") && name.size() > 6 &&
           name.find_first_not_of("0123456789", 6) == std::string::npos;
}

}  // namespace

int countHardware(const Places& places)
{
    const int driven = countEntries(fs::path(places.proc) / "driver/nvidia/gpus", [](const fs::path&) { return true; });
    const int onBus = countEntries(fs::path(places.sys) / "bus/pci/devices", isGpu);
    const int files = countEntries(places.dev, isGpuFile);
    return std::max({driven, onBus, files});
}

bool readKernelModule(const Places& places, std::string& version)
{
    const fs::path file = fs::path(places.proc) / "driver/nvidia/version";
    const std::string line = firstLine(file);
    static const std::regex number(R"(\b\d+\.\d+(\.\d+)?\b)");
    std::smatch match;
    if (std::regex_search(line, match, number)) version = match.str();
    std::error_code problem;
    return fs::exists(file, problem);
}

}  // namespace hopscope::gpu

#include "base/proc.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/cgroup.h"

namespace hopscope::base {

namespace {

// The value in the first line "KEY : VALUE"; empty if there is none.
std::string valueOf(const std::string& file, const std::string& key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find_first_not_of(" \t", key.size());
        if (!line.starts_with(key) || colon == std::string::npos || line[colon] != ':') continue;
        const std::size_t first = line.find_first_not_of(" \t", colon + 1);
        return first == std::string::npos ? std::string() : line.substr(first);
    }
    return {};
}

// "MemAvailable:   1234 kB"
std::int64_t bytesOf(const std::string& file, const std::string& key)
{
    return std::strtoll(valueOf(file, key).c_str(), nullptr, 10) * 1024;
}

}  // namespace

std::int64_t totalMemory() { return bytesOf("/proc/meminfo", "MemTotal"); }

std::int64_t availableMemory()
{
    const std::int64_t machine = bytesOf("/proc/meminfo", "MemAvailable");
    return std::min(machine, cgroupMemory().value_or(machine));
}

std::int64_t anonymousMemory(const std::string& process) { return bytesOf("/proc/" + process + "/status", "RssAnon"); }

std::int64_t privateMemory() { return bytesOf("/proc/self/status", "VmData"); }

MemoryAllowance::MemoryAllowance([[maybe_unused]] std::int64_t bytes)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    rlimit data{};
    const std::int64_t used = privateMemory();
    if (used <= 0 || getrlimit(RLIMIT_DATA, &data) != 0) return;
    const auto limit = static_cast<rlim_t>(used + bytes);
    if (data.rlim_cur != RLIM_INFINITY && data.rlim_cur <= limit) return;
    m_before = data.rlim_cur;
    data.rlim_cur = limit;
    setrlimit(RLIMIT_DATA, &data);
#endif
}

MemoryAllowance::~MemoryAllowance()
{
    rlimit data{};
    if (m_before == 0 || getrlimit(RLIMIT_DATA, &data) != 0) return;
    data.rlim_cur = m_before;
    setrlimit(RLIMIT_DATA, &data);
}

bool freeMemoryIsTaken(const std::string& devices)
{
    constexpr std::size_t reporting = 5;  // VIRTIO_BALLOON_F_REPORTING
    std::error_code unknown;
    for (const auto& device : std::filesystem::directory_iterator(devices, unknown)) {
        std::string kind, features;
        std::ifstream(device.path() / "device") >> kind;
        std::ifstream(device.path() / "features") >> features;
        if (kind == "0x0005" && features.size() > reporting && features[reporting] == '1') return true;
    }
    return false;
}

std::string processorName() { return valueOf("/proc/cpuinfo", "model name"); }

}  // namespace hopscope::base

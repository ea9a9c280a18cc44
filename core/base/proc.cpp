#include "base/proc.h"

#include <cstdlib>
#include <fstream>

namespace hopscope::base {

namespace {

// "MemAvailable:   1234 kB"
std::int64_t bytesOf(const std::string& file, const std::string& key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key)) return std::strtoll(line.c_str() + key.size(), nullptr, 10) * 1024;
    return 0;
}

}  // namespace

std::int64_t availableMemory() { return bytesOf("/proc/meminfo", "MemAvailable:"); }

std::int64_t anonymousMemory(const std::string& process) { return bytesOf("/proc/" + process + "/status", "RssAnon:"); }

}  // namespace hopscope::base

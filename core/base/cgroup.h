#pragma once

// What the control groups of this process (Linux, version 1 or 2) leave it of the machine's memory.

#include <cstdint>
#include <optional>
#include <string>

namespace hopscope::base {

// Where the kernel tells; other folders in tests.
struct CgroupFiles {
    std::string process = "/proc/self/cgroup";
    std::string root = "/sys/fs/cgroup";
};

// Bytes that the group and those above it may still take, pages of files counted as free; nullopt: there is no limit.
std::optional<std::int64_t> cgroupMemory(const CgroupFiles& files = {});

}  // namespace hopscope::base

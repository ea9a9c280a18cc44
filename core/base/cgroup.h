#pragma once

// The memory that the control groups of this process (Linux, version 1 or 2) allow it to use.

#include <cstdint>
#include <optional>
#include <string>

namespace hopscope::base {

// The paths at which the kernel reports limits; tests use others.
struct CgroupFiles {
    std::string process = "/proc/self/cgroup";
    std::string root = "/sys/fs/cgroup";
};

// Bytes that the group and those above it may still take, pages of files counted as free; nullopt: there is no limit.
std::optional<std::int64_t> cgroupMemory(const CgroupFiles& files = {});

}  // namespace hopscope::base

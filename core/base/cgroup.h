#pragma once

// Reads the memory limits of this process's control groups (Linux, version 1 or 2).

#include <cstdint>
#include <optional>
#include <string>

namespace hopscope::base {

// The paths at which the kernel reports limits; tests use others.
struct CgroupFiles {
    std::string process = "/proc/self/cgroup";
    std::string root = "/sys/fs/cgroup";
};

// Returns the bytes that the group and its ancestors may still use, counting pages of files as free; nullopt if there
// is no limit.
std::optional<std::int64_t> cgroupMemory(const CgroupFiles& files = {});

}  // namespace hopscope::base

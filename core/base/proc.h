#pragma once

// Memory as Linux reports it below /proc, in bytes; 0 if unknown.

#include <cstdint>
#include <string>

namespace hopscope::base {

// The kernel's estimate of what can be allocated without swapping.
std::int64_t availableMemory();

// Resident memory of a process ("self" or its id) that no file backs; 0 if there is no such process.
std::int64_t anonymousMemory(const std::string& process);

}  // namespace hopscope::base

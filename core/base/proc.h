#pragma once

// Reads what Linux reports about memory and processors below /proc and /sys, and limits the memory of this process.
// Memory is in bytes; 0 means unknown.

#include <cstdint>
#include <string>

namespace hopscope::base {

std::int64_t totalMemory();

// Returns the kernel's estimate of the memory that can be allocated without swapping, or less if a control group of
// this process has a lower limit.
std::int64_t availableMemory();

// Returns the size of the private writable memory of this process, which RLIMIT_DATA limits.
std::int64_t privateMemory();

// Limits the memory that this process, with all of its threads, may allocate in addition during the lifetime of the
// object; allocations beyond the limit fail. Does nothing if a lower limit is set already, and under AddressSanitizer
// and ThreadSanitizer, whose memory is not counted in this way.
class MemoryAllowance {
public:
    explicit MemoryAllowance(std::int64_t bytes);
    MemoryAllowance(const MemoryAllowance&) = delete;
    MemoryAllowance& operator=(const MemoryAllowance&) = delete;
    ~MemoryAllowance();

private:
    std::uint64_t m_before = 0;  // the limit that it replaced; 0: none
};

// Returns the resident memory of a process ("self" or its id) that is not backed by a file; 0 if there is no such
// process.
std::int64_t anonymousMemory(const std::string& process);

// Returns whether this is a virtual machine that reports free memory to its host, which reclaims it (free page
// reporting of a virtio balloon). The first access to such memory then waits for the host.
bool freeMemoryIsTaken(const std::string& devices = "/sys/bus/virtio/devices");

// Returns the name of the processor, for example "AMD EPYC 9B14"; empty if unknown.
std::string processorName();

}  // namespace hopscope::base

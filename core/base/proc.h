#pragma once

// Memory and processor as Linux reports them below /proc and /sys. Memory is in bytes; 0 if unknown.

#include <cstdint>
#include <string>

namespace hopscope::base {

std::int64_t totalMemory();

// The kernel's estimate of the memory that can be allocated without swapping, or less if a control group of this
// process has a limit.
std::int64_t availableMemory();

// The private writable memory of this process (RLIMIT_DATA limits it).
std::int64_t privateMemory();

// Limits the additional memory of this process, with all of its threads, for the lifetime of the object: larger
// allocations fail. Does nothing under AddressSanitizer, whose memory is not counted in this way.
class MemoryAllowance {
public:
    explicit MemoryAllowance(std::int64_t bytes);
    MemoryAllowance(const MemoryAllowance&) = delete;
    MemoryAllowance& operator=(const MemoryAllowance&) = delete;
    ~MemoryAllowance();

private:
    std::uint64_t m_before = 0;  // the limit; 0: it was not changed
};

// Resident memory of a process ("self" or its id) that no file backs; 0 if there is no such process.
std::int64_t anonymousMemory(const std::string& process);

// Whether this is a virtual machine that reports free memory to its host, which takes it away (free page reporting of a virtio
// balloon): the first touch of such memory waits for the host.
bool freeMemoryIsTaken(const std::string& devices = "/sys/bus/virtio/devices");

// "AMD EPYC 9B14"; empty if unknown.
std::string processorName();

}  // namespace hopscope::base

#pragma once

// LibTorch's CPU allocator, replaced once per process by one that counts, enforces a limit and can spill to disk. It makes
// the CPU behave like a device with a fixed memory: crossing the limit throws as a GPU's allocator does.

#include <cstdint>
#include <string>

namespace hopscope::executor {

struct MemoryStats {
    std::int64_t current = 0, peak = 0;  // bytes of live anonymous tensors; spilled ones are not counted
};

// Installs the allocator; idempotent, called before the first run.
void installCpuAllocator();

MemoryStats cpuMemory();
void resetCpuPeak();
void setCpuLimit(std::int64_t bytes);  // 0: none. An allocation beyond it throws c10::OutOfMemoryError.

// Bytes that tensors may take where the whole process is limited to `wanted`: what it holds outside of tensors is taken
// off, down to a quarter.
std::int64_t tensorLimit(std::int64_t wanted);

// Beyond this many bytes per batch, larger batches gain nothing on a CPU.
inline constexpr double cpuBatchBytes = 1e9;

// While alive, tensors of at least `threshold` bytes allocated anywhere in the process are mapped from unlinked files in
// `folder` instead of anonymous memory: for the prologue's whole-graph values.
class SpillScope {
public:
    SpillScope(const std::string& folder, std::int64_t threshold);
    ~SpillScope();
    SpillScope(const SpillScope&) = delete;
    SpillScope& operator=(const SpillScope&) = delete;
};

}  // namespace hopscope::executor

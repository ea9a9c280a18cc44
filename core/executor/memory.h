#pragma once

// LibTorch's CPU allocator, replaced once per process by one that counts, enforces a limit and can spill to disk. It makes
// the CPU behave like a device with a fixed memory: crossing the limit throws as a GPU's allocator does.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace hopscope::executor {

struct MemoryStats {
    std::int64_t current = 0, peak = 0;  // bytes of live anonymous tensors; spilled ones are not counted
    // On a GPU: what the allocator has taken from the driver, cached blocks and such in use by queued copies included.
    std::int64_t reserved = 0, reservedPeak = 0;
};

// What is counted for a tensor of so many bytes: its header, rounded up so that freed blocks fit later requests.
std::int64_t countedBytes(std::int64_t wanted);
// The same of CUDA's allocator, which counts up to a MiB more where it leaves a larger block whole.
std::int64_t countedOnGpu(std::int64_t wanted);

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

// While alive, remembers what the calling thread takes from the allocator and gives back, apart from spilled tensors.
// Scopes of a thread nest; the innermost one listens.
class AllocationTrace {
public:
    struct Event {
        std::int32_t block = 0;  // numbered as they are taken, from 0
        std::int64_t bytes = 0;  // asked for; 0: the block is given back
        bool operator==(const Event&) const = default;
    };

    AllocationTrace();
    ~AllocationTrace();
    AllocationTrace(const AllocationTrace&) = delete;
    AllocationTrace& operator=(const AllocationTrace&) = delete;

    [[nodiscard]] const std::vector<Event>& events() const { return m_events; }
    [[nodiscard]] std::int64_t held() const;  // counted for what has been taken and not given back
    void taken(const void* data, std::int64_t bytes);
    void given(const void* data);

private:
    AllocationTrace* m_outer;
    std::vector<Event> m_events;
    std::unordered_map<const void*, std::int32_t> m_live;
    std::int32_t m_blocks = 0;
};

// While alive, tensors of at least `threshold` bytes that the calling thread allocates are mapped from unlinked files in
// `folder` instead of anonymous memory: for the prologue's whole-graph values. Scopes of a thread nest; the innermost one
// decides.
class SpillScope {
public:
    SpillScope(const std::string& folder, std::int64_t threshold);
    ~SpillScope();
    SpillScope(const SpillScope&) = delete;
    SpillScope& operator=(const SpillScope&) = delete;

    [[nodiscard]] bool takes(std::int64_t bytes) const { return bytes >= m_threshold; }
    [[nodiscard]] const std::string& folder() const { return m_folder; }

private:
    SpillScope* m_outer;
    std::string m_folder;
    std::int64_t m_threshold;
};

// Tensors of the prologue that are at least as large are spilled.
inline constexpr std::int64_t spillThreshold = 1 << 20;

}  // namespace hopscope::executor

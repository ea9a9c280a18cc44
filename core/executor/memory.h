#pragma once

// Replaces LibTorch's CPU allocator by one that counts bytes, enforces a limit and can spill to scratch memory, so that
// the CPU behaves like a device with a fixed amount of memory: exceeding the limit throws, as a GPU's allocator does.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace hopscope::executor {

struct MemoryStats {
    std::int64_t current = 0, peak = 0;  // bytes of live anonymous tensors; spilled ones are not counted
    // GPU: bytes reserved by the allocator, including cached blocks and blocks still used by queued copies.
    std::int64_t reserved = 0, reservedPeak = 0;
};

// Returns the bytes counted for an allocation of `wanted` bytes. They include the allocator's header and are rounded up
// so that freed blocks can be reused for similar requests.
std::int64_t countedBytes(std::int64_t wanted);
// Returns the bytes that CUDA's allocator counts. It counts up to 1 MiB more if it uses a larger block without splitting
// it.
std::int64_t countedOnGpu(std::int64_t wanted);
// Returns the bytes that CUDA's allocator reserves for many allocations of one stream that stay. Those of 1 to 10 MiB share
// segments of 20 MiB as far as they fit, larger ones have segments of their own, in steps of 2 MiB.
std::int64_t reservedOnGpu(const std::vector<std::int64_t>& wanted);

// Installs the allocator. Idempotent; must be called before the first run.
void installCpuAllocator();

MemoryStats cpuMemory();
void resetCpuPeak();
void setCpuLimit(std::int64_t bytes);  // 0: no limit. Allocations beyond it throw c10::OutOfMemoryError.

void dropCpuCache();  // gives freed blocks back to the system
// Whether freed blocks are reused for somewhat smaller requests under a limit. That is faster, but holds more memory
// than is counted, which the limit allows less often. It is allowed from each setCpuLimit() on.
void reuseLargerBlocks(bool allowed);

// Returns the bytes left for tensors if the whole process is limited to `wanted` bytes: `wanted` minus an estimate of
// the rest of the process's memory, but at least `smallLimit`, or `wanted` itself if that is less.
std::int64_t tensorLimit(std::int64_t wanted);
// Returns the least limit of the process that leaves `bytes` for tensors.
std::int64_t processLimit(std::int64_t bytes);
inline constexpr std::int64_t smallLimit = 16 << 20;

// The bytes per batch beyond which larger batches are not faster on a CPU.
inline constexpr double cpuBatchBytes = 1e9;

// During its lifetime, records the calling thread's allocations and deallocations. If scopes are nested, only the
// innermost one records.
class AllocationTrace {
public:
    struct Event {
        std::int32_t block = 0;  // blocks are numbered from 0 in the order of allocation
        std::int64_t bytes = 0;  // requested; 0: the block is freed
        bool operator==(const Event&) const = default;
    };

    enum class Spilled : bool { Skip, Record };  // tensors that a SpillScope takes

    explicit AllocationTrace(Spilled spilled = Spilled::Skip);
    ~AllocationTrace();
    AllocationTrace(const AllocationTrace&) = delete;
    AllocationTrace& operator=(const AllocationTrace&) = delete;

    [[nodiscard]] const std::vector<Event>& events() const { return m_events; }
    [[nodiscard]] std::int64_t held() const;  // counted bytes that were allocated and not freed
    void taken(const void* data, std::int64_t bytes);
    void spilled(const void* data, std::int64_t bytes);
    void given(const void* data);

private:
    AllocationTrace* m_outer;
    Spilled m_spilled;
    std::vector<Event> m_events;
    std::unordered_map<const void*, std::int32_t> m_live;
    std::int32_t m_blocks = 0;
};

// During its lifetime, the calling thread's tensors of at least `threshold` bytes are spilled: they lie in scratch
// memory (graph::mapScratch) and are not counted. If anonymous memory is not allowed, that memory consists of unlinked
// files in `folder`. Used for the prologue, whose values cover the whole graph, and for predictions. If scopes are
// nested, the innermost one applies.
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

// The size in bytes from which these scopes spill tensors.
inline constexpr std::int64_t spillThreshold = 1 << 20;

}  // namespace hopscope::executor

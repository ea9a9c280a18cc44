#pragma once

// Private to the fake device: device memory with the rules of CUDA's caching allocator. Sizes are rounded up to 512
// bytes; those up to 1 MiB are cut from segments of 2 MiB, those below 10 MiB from segments of 20 MiB, others get
// segments of their own, rounded up to 2 MiB. Of the free blocks of a stream the smallest that fits is taken.

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include <c10/core/CachingDeviceAllocator.h>

#include "fake_device/clocks.h"
#include "fake_device/mappings.h"

namespace hopscope::fake_device {

// A range of a segment.
struct Block {
    enum class Use : std::uint8_t { Free, Allocated, Pending };

    char* address = nullptr;  // what tensors carry
    std::size_t bytes = 0, requested = 0;
    const Mapping* segment = nullptr;
    int lane = 0;  // the stream whose free blocks it is one of
    bool small = false;
    Use use = Use::Free;
    Mark written;
    std::vector<Mark> used;  // the last use of each lane
    std::set<int> recorded;  // by record_stream
    double freeAt = 0;       // pending: when the recorded streams have passed
    [[nodiscard]] char* host(const void* p) const
    {
        return segment->host + (static_cast<const char*>(p) - segment->device);
    }
};

// The memory of one device.
class DeviceMemory {
public:
    explicit DeviceMemory(int device) : m_device(device) {}
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    // Throws c10::OutOfMemoryError after everything that is cached has been given back.
    Block& allocate(std::size_t bytes, int lane);
    void release(Block& block);
    void emptyCache();
    void setLimit(std::int64_t bytes) { m_limit = bytes; }
    Block* find(const void* address);  // null: no memory of this device

    [[nodiscard]] const c10::CachingDeviceAllocator::DeviceStats& stats() const { return m_stats; }
    void resetPeaks();
    void resetAccumulated();
    [[nodiscard]] std::int64_t freeBytes() const;  // to the driver

private:
    struct Smaller {
        bool operator()(const Block* a, const Block* b) const;
    };
    using Pool = std::set<Block*, Smaller>;
    using Stats = c10::CachingAllocator::StatArray;

    Pool& poolOf(const Block& block) { return block.small ? m_small : m_large; }
    Block* takeFree(std::size_t bytes, int lane);
    Block* takeSegment(std::size_t bytes, int lane);
    Block* retryWithoutCache(std::size_t bytes, int lane);
    void splitOff(Block& block, std::size_t bytes);
    void hand(Block& block, std::size_t requested);
    void putBack(Block& block);
    Block* freeNeighbour(const Block& block, bool after);
    void releasePassed();
    void releaseAllPending();
    void giveBackSegments();
    void complainIfInUse(const Block& block) const;
    [[noreturn]] void throwOutOfMemory(std::size_t bytes);
    void report(const Block& block, std::int64_t bytes) const;

    int m_device;
    std::int64_t m_limit = 0;
    std::map<const char*, Block> m_blocks;
    std::map<const char*, Mapping> m_segments;
    Pool m_small, m_large;
    std::vector<Block*> m_pending;
    c10::CachingDeviceAllocator::DeviceStats m_stats;
};

DeviceMemory& memoryOf(int device);

// The allocated block at an address of either device; anything else is an illegal memory access.
Block& blockAt(const void* address);
char* hostAddress(const void* address);
// Refuses what is not ordered after the block's other uses, and remembers this one.
void touch(Block& block, Mark mark, bool write);

}  // namespace hopscope::fake_device

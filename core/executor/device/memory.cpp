#include "executor/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include "base/proc.h"
#include "graph/file.h"

namespace hopscope::executor {

namespace {

constexpr std::size_t headerBytes = 64;  // keeps the tensor's bytes aligned as LibTorch expects
constexpr std::int64_t largeBytes = 1 << 16;
constexpr std::int64_t hugePageBytes = 4 << 20;
constexpr std::int64_t slabBytes = 16 << 20;
constexpr std::int64_t unaccounted = 48 << 20;                  // stacks, heaps and libraries' own buffers
constexpr std::int64_t unlimitedCache = std::int64_t{1} << 30;  // of freed blocks, where no limit says otherwise

enum class Kind : std::uint8_t { Small, Part, Large, Spilled };

struct Header {
    std::int64_t bytes;    // of the whole block, header included
    std::int64_t counted;  // part of them: a reused block may be larger than the request
    Kind kind;
};
// The owner of a spilled block's memory, stored behind its header.
using Owner = std::shared_ptr<std::byte>;
constexpr std::size_t ownerAt = 32;
static_assert(sizeof(Header) <= ownerAt && ownerAt + sizeof(Owner) <= headerBytes);

thread_local AllocationTrace* listening = nullptr;
thread_local SpillScope* spilling = nullptr;

// Eighths of a power of two.
std::int64_t roundUp(std::int64_t bytes)
{
    const auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)) / 8);
    return std::max<std::int64_t>((bytes + step - 1) / step * step, 4096);
}

[[noreturn]] void outOfMemory(std::int64_t bytes, const char* why)
{
    C10_THROW_ERROR(OutOfMemoryError, std::string(why) + ": " + std::to_string(bytes) + " bytes requested");
}

void* mapped(std::int64_t bytes, bool hugePages)
{
    const auto size = static_cast<std::size_t>(bytes);
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) outOfMemory(bytes, "out of memory");
    if (hugePages) ::madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}

// Batches differ a little: a block is reused for requests that are somewhat smaller.
std::int64_t somewhatLarger(std::int64_t bytes) { return bytes + bytes / 2; }

// Blocks by size.
class FreeBlocks {
public:
    void put(void* block, std::int64_t bytes) { m_blocks[bytes].push_back(block); }

    // The smallest with at least `bytes` and at most `most` bytes; nullptr: there is none.
    std::pair<void*, std::int64_t> take(std::int64_t bytes, std::int64_t most)
    {
        const auto it = m_blocks.lower_bound(bytes);
        if (it == m_blocks.end() || it->first > most) return {};
        const std::pair<void*, std::int64_t> block{it->second.back(), it->first};
        it->second.pop_back();
        if (it->second.empty()) m_blocks.erase(it);
        return block;
    }

    template <class Do>
    void forEach(Do&& work) const
    {
        for (const auto& [bytes, blocks] : m_blocks)
            for (void* const block : blocks) work(block, static_cast<std::size_t>(bytes));
    }

    void clear() { m_blocks.clear(); }

private:
    std::map<std::int64_t, std::vector<void*>> m_blocks;
};

// Blocks of batches lie side by side in huge pages, where a page fault covers 2 MB and not 4 KB. Blocks keep their
// places; the pages of free ones can be returned to the system.
class Slabs {
public:
    std::pair<void*, std::int64_t> take(std::int64_t bytes)
    {
        if (const auto block = m_free.take(bytes, somewhatLarger(bytes)); block.first) return block;
        if (m_left < bytes) {
            if (m_left > 0) m_free.put(m_next, m_left);
            m_next = static_cast<std::byte*>(mapped(slabBytes, true));
            m_left = slabBytes;
        }
        m_left -= bytes;
        return {std::exchange(m_next, m_next + bytes), bytes};
    }

    void put(void* block, std::int64_t bytes) { m_free.put(block, bytes); }

    void drop()
    {
        m_free.forEach([](void* block, std::size_t bytes) { ::madvise(block, bytes, MADV_DONTNEED); });
    }

private:
    FreeBlocks m_free;
    std::byte* m_next = nullptr;
    std::int64_t m_left = 0;
};

class Pool {
public:
    void* allocate(std::int64_t wanted)
    {
        const auto bytes = wanted + static_cast<std::int64_t>(headerBytes);
        const std::lock_guard lock(m_mutex);
        if (spilling && spilling->takes(wanted)) return spill(wanted, spilling->folder());
        void* const data = bytes < largeBytes ? small(countedBytes(wanted)) : large(countedBytes(wanted));
        if (listening) listening->taken(data, wanted);
        return data;
    }

    void release(void* data)
    {
        auto* block = static_cast<std::byte*>(data) - headerBytes;
        const Header header = *reinterpret_cast<Header*>(block);
        if (header.kind == Kind::Spilled) {
            const Owner last = std::move(*reinterpret_cast<Owner*>(block + ownerAt));
            std::destroy_at(reinterpret_cast<Owner*>(block + ownerAt));
            return;
        }
        const std::lock_guard lock(m_mutex);
        m_stats.current -= header.counted;
        m_slack -= header.bytes - header.counted;
        if (header.kind == Kind::Small) return std::free(block);
        if (header.kind == Kind::Part) return m_slabs.put(block, header.bytes);
        if (m_cached + header.bytes > mostCached()) {
            ::munmap(block, static_cast<std::size_t>(header.bytes));
            return;
        }
        m_cached += header.bytes;
        m_free.put(block, header.bytes);
    }

    MemoryStats stats() const
    {
        const std::lock_guard lock(m_mutex);
        return m_stats;
    }

    void resetPeak()
    {
        const std::lock_guard lock(m_mutex);
        m_stats.peak = m_stats.current;
    }

    void setLimit(std::int64_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_limit = bytes;
        m_slackBefore = m_slack;
        m_exact = false;
        dropBlocks();
    }

    void setExact(bool exact)
    {
        const std::lock_guard lock(m_mutex);
        m_exact = exact;
    }

    void dropCache()
    {
        const std::lock_guard lock(m_mutex);
        dropBlocks();
    }

private:
    std::int64_t mostCached() const { return m_limit > 0 ? m_limit / 2 : unlimitedCache; }

    void* finish(void* memory, std::int64_t bytes, std::int64_t counted, Kind kind)
    {
        new (memory) Header{.bytes = bytes, .counted = counted, .kind = kind};
        if (kind != Kind::Spilled) {
            m_stats.current += counted;
            m_slack += bytes - counted;
            m_stats.peak = std::max(m_stats.peak, m_stats.current);
        }
        return static_cast<std::byte*>(memory) + headerBytes;
    }

    void checkLimit(std::int64_t bytes)
    {
        if (m_limit <= 0) return;
        const std::int64_t used = m_stats.current + std::max<std::int64_t>(m_slack - m_slackBefore, 0);
        if (used + m_cached + bytes > m_limit) dropBlocks();
        if (used + bytes > m_limit) outOfMemory(bytes, "memory limit reached");
    }

    void* small(std::int64_t bytes)
    {
        checkLimit(bytes);
        void* memory = std::aligned_alloc(headerBytes, static_cast<std::size_t>(bytes));
        if (!memory) outOfMemory(bytes, "out of memory");
        return finish(memory, bytes, bytes, Kind::Small);
    }

    // Under a limit, every block is counted separately.
    void* large(std::int64_t bytes)
    {
        if (m_limit <= 0 && bytes < hugePageBytes) {
            const auto [part, size] = m_slabs.take(bytes);
            return finish(part, size, bytes, Kind::Part);
        }
        if (const auto [cached, size] = m_free.take(bytes, m_exact ? bytes : somewhatLarger(bytes)); cached) {
            m_cached -= size;
            return finish(cached, size, bytes, Kind::Large);
        }
        checkLimit(bytes);
        return finish(mapped(bytes, bytes >= hugePageBytes), bytes, bytes, Kind::Large);
    }

    void dropBlocks()
    {
        m_free.forEach([](void* block, std::size_t bytes) { ::munmap(block, bytes); });
        m_free.clear();
        m_cached = 0;
        m_slabs.drop();
    }

    void* spill(std::int64_t wanted, const std::string& folder)
    {
        const auto bytes = wanted + static_cast<std::int64_t>(headerBytes);
        auto memory = graph::mapScratch(folder, bytes, graph::Fill::Any);
        if (!memory) outOfMemory(bytes, memory.error().message.c_str());
        std::byte* const block = memory->get();
        void* const data = finish(block, bytes, 0, Kind::Spilled);
        new (block + ownerAt) Owner(std::move(*memory));
        if (listening) listening->spilled(data, wanted);
        return data;
    }

    mutable std::mutex m_mutex;
    MemoryStats m_stats;
    std::int64_t m_limit = 0, m_cached = 0;
    std::int64_t m_slack = 0;        // bytes of the blocks in use that are not counted
    std::int64_t m_slackBefore = 0;  // at the time of setLimit(): older blocks do not count against it
    bool m_exact = false;            // no block is reused for a smaller request
    FreeBlocks m_free;
    Slabs m_slabs;
};

// Never destroyed: tensors with static lifetime outlive every order of destruction.
Pool& pool()
{
    static Pool& instance = *new Pool;
    return instance;
}

void releaseTensor(void* data)
{
    if (!data) return;
    if (listening) listening->given(data);
    pool().release(data);
}

class CountingAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        void* data = bytes == 0 ? nullptr : pool().allocate(static_cast<std::int64_t>(bytes));
        return {data, data, &releaseTensor, c10::Device(c10::DeviceType::CPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &releaseTensor; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

}  // namespace

void installCpuAllocator()
{
    static CountingAllocator& allocator = *new CountingAllocator;
    static std::once_flag once;
    std::call_once(once, [] { c10::SetCPUAllocator(&allocator, 100); });
}

std::int64_t countedBytes(std::int64_t wanted)
{
    const auto bytes = wanted + static_cast<std::int64_t>(headerBytes);
    constexpr auto line = static_cast<std::int64_t>(headerBytes);
    return bytes < largeBytes ? (bytes + line - 1) / line * line : roundUp(bytes);
}

std::int64_t countedOnGpu(std::int64_t wanted)
{
    constexpr std::int64_t step = 512;
    return (wanted + step - 1) / step * step;
}

std::int64_t reservedOnGpu(const std::vector<std::int64_t>& wanted)
{
    constexpr std::int64_t mib = 1 << 20, shared = 20 * mib;
    std::int64_t small = 0, own = 0;
    double middle = 0;  // segments
    for (const std::int64_t bytes : wanted) {
        if (bytes <= mib) small += countedOnGpu(bytes);
        else if (bytes >= 10 * mib) own += (bytes + 2 * mib - 1) / (2 * mib) * (2 * mib);
        else middle += 1.0 / static_cast<double>(shared / bytes);
    }
    return (small + 2 * mib - 1) / (2 * mib) * (2 * mib) +
           static_cast<std::int64_t>(std::ceil(middle - 1e-9)) * shared + own;
}

AllocationTrace::AllocationTrace(Spilled spilled) : m_outer(listening), m_spilled(spilled) { listening = this; }
AllocationTrace::~AllocationTrace() { listening = m_outer; }

void AllocationTrace::taken(const void* data, std::int64_t bytes)
{
    m_live[data] = m_blocks;
    m_events.push_back({m_blocks++, bytes});
}

void AllocationTrace::spilled(const void* data, std::int64_t bytes)
{
    if (m_spilled == Spilled::Record) taken(data, bytes);
}

void AllocationTrace::given(const void* data)
{
    const auto it = m_live.find(data);
    if (it == m_live.end()) return;
    m_events.push_back({it->second, 0});
    m_live.erase(it);
}

std::int64_t AllocationTrace::held() const
{
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(m_blocks), 0);
    for (const Event& e : m_events) blocks[static_cast<std::size_t>(e.block)] = e.bytes > 0 ? countedBytes(e.bytes) : 0;
    return std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
}

MemoryStats cpuMemory() { return pool().stats(); }
void resetCpuPeak() { pool().resetPeak(); }
void setCpuLimit(std::int64_t bytes) { pool().setLimit(bytes); }
void dropCpuCache() { pool().dropCache(); }
void reuseLargerBlocks(bool allowed) { pool().setExact(!allowed); }

SpillScope::SpillScope(const std::string& folder, std::int64_t threshold)
    : m_outer(spilling),
      m_folder(folder),
      m_threshold(threshold)
{
    spilling = this;
}

SpillScope::~SpillScope() { spilling = m_outer; }

namespace {

std::int64_t outsideOfTensors()
{
    const std::int64_t counted = cpuMemory().current + graph::anonymousScratch();
    return std::max<std::int64_t>(base::anonymousMemory("self") - counted, 0) + unaccounted;
}

}  // namespace

std::int64_t tensorLimit(std::int64_t wanted)
{
    return std::max(wanted - outsideOfTensors(), std::min(wanted, smallLimit));
}

std::int64_t processLimit(std::int64_t bytes) { return bytes <= smallLimit ? bytes : bytes + outsideOfTensors(); }

}  // namespace hopscope::executor

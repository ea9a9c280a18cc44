#include "executor/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

namespace hopscope::executor {

namespace {

constexpr std::size_t headerBytes = 64;  // keeps the tensor's bytes aligned as LibTorch expects
constexpr std::int64_t largeBytes = 1 << 20;
constexpr std::int64_t hugePageBytes = 4 << 20;
constexpr std::int64_t unaccounted = 48 << 20;                  // stacks, heaps and libraries' own buffers
constexpr std::int64_t unlimitedCache = std::int64_t{1} << 30;  // of freed blocks, where no limit says otherwise

enum class Kind : std::uint8_t { Small, Large, Spilled };

struct Header {
    std::int64_t bytes;  // of the whole block, header included
    Kind kind;
};
static_assert(sizeof(Header) <= headerBytes);

// Sizes are rounded up to eighths of a power of two, so that freed blocks fit later requests.
std::int64_t roundUp(std::int64_t bytes)
{
    const auto step = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes)) / 8);
    return std::max<std::int64_t>((bytes + step - 1) / step * step, 4096);
}

[[noreturn]] void outOfMemory(std::int64_t bytes, const char* why)
{
    C10_THROW_ERROR(OutOfMemoryError, std::string(why) + ": " + std::to_string(bytes) + " bytes wanted");
}

std::int64_t anonymousMemory()
{
    std::ifstream file("/proc/self/status");
    std::string word;
    while (file >> word)
        if (word == "RssAnon:") {
            std::int64_t kilobytes = 0;
            file >> kilobytes;
            return kilobytes * 1024;
        }
    return 0;
}

int openUnlinked(const std::string& folder)
{
    const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    std::string path = folder + "/spill.XXXXXX";
    const int named = ::mkostemp(path.data(), O_CLOEXEC);
    if (named >= 0) ::unlink(path.c_str());
    return named;
}

class Pool {
public:
    void* allocate(std::int64_t wanted)
    {
        const auto bytes = wanted + static_cast<std::int64_t>(headerBytes);
        const std::lock_guard lock(m_mutex);
        if (!m_spillFolder.empty() && wanted >= m_spillThreshold) return spill(bytes);
        return bytes < largeBytes ? small(bytes) : large(roundUp(bytes));
    }

    void release(void* data)
    {
        auto* block = static_cast<std::byte*>(data) - headerBytes;
        const Header header = *reinterpret_cast<Header*>(block);
        const std::lock_guard lock(m_mutex);
        if (header.kind == Kind::Spilled) {
            ::munmap(block, static_cast<std::size_t>(header.bytes));
            return;
        }
        m_stats.current -= header.bytes;
        if (header.kind == Kind::Small) return std::free(block);
        if (m_cached + header.bytes > mostCached()) {
            ::munmap(block, static_cast<std::size_t>(header.bytes));
            return;
        }
        m_cached += header.bytes;
        m_free[header.bytes].push_back(block);
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
        dropCache();
    }

    void pushSpill(const std::string& folder, std::int64_t threshold)
    {
        const std::lock_guard lock(m_mutex);
        m_spillFolder = folder;
        m_spillThreshold = threshold;
    }

    void popSpill()
    {
        const std::lock_guard lock(m_mutex);
        m_spillFolder.clear();
    }

private:
    std::int64_t mostCached() const { return m_limit > 0 ? m_limit / 2 : unlimitedCache; }

    void* finish(void* memory, std::int64_t bytes, Kind kind)
    {
        new (memory) Header{bytes, kind};
        if (kind != Kind::Spilled) {
            m_stats.current += bytes;
            m_stats.peak = std::max(m_stats.peak, m_stats.current);
        }
        return static_cast<std::byte*>(memory) + headerBytes;
    }

    void checkLimit(std::int64_t bytes)
    {
        if (m_limit <= 0) return;
        if (m_stats.current + m_cached + bytes > m_limit) dropCache();
        if (m_stats.current + bytes > m_limit) outOfMemory(bytes, "memory limit reached");
    }

    void* small(std::int64_t bytes)
    {
        const std::int64_t whole = (bytes + 63) / 64 * 64;
        checkLimit(whole);
        void* memory = std::aligned_alloc(headerBytes, static_cast<std::size_t>(whole));
        if (!memory) outOfMemory(bytes, "out of memory");
        return finish(memory, whole, Kind::Small);
    }

    void* large(std::int64_t bytes)
    {
        if (const auto cached = takeCached(bytes); cached.first)
            return finish(cached.first, cached.second, Kind::Large);
        checkLimit(bytes);
        void* memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) outOfMemory(bytes, "out of memory");
        if (bytes >= hugePageBytes) ::madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
        return finish(memory, bytes, Kind::Large);
    }

    // A freed block of this size or somewhat larger: batches differ a little, and fresh pages are dear.
    std::pair<void*, std::int64_t> takeCached(std::int64_t bytes)
    {
        const auto it = m_free.lower_bound(bytes);
        if (it == m_free.end() || it->first > bytes + bytes / 2) return {};
        const std::pair<void*, std::int64_t> block{it->second.back(), it->first};
        it->second.pop_back();
        if (it->second.empty()) m_free.erase(it);
        m_cached -= block.second;
        return block;
    }

    void dropCache()
    {
        for (auto& [bytes, blocks] : m_free)
            for (void* block : blocks) ::munmap(block, static_cast<std::size_t>(bytes));
        m_free.clear();
        m_cached = 0;
    }

    void* spill(std::int64_t bytes)
    {
        const int file = openUnlinked(m_spillFolder);
        if (file < 0) outOfMemory(bytes, "no scratch file can be created");
        // Reserved now, so that a full disk is an error here and not a fault later.
        const bool reserved = ::posix_fallocate(file, 0, bytes) == 0;
        void* memory =
            reserved ? ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                     : MAP_FAILED;
        ::close(file);
        if (memory == MAP_FAILED) outOfMemory(bytes, "no disk space for a scratch file");
        return finish(memory, bytes, Kind::Spilled);
    }

    mutable std::mutex m_mutex;
    MemoryStats m_stats;
    std::int64_t m_limit = 0, m_cached = 0;
    std::map<std::int64_t, std::vector<void*>> m_free;
    std::string m_spillFolder;
    std::int64_t m_spillThreshold = 0;
};

// Never destroyed: tensors with static lifetime outlive every order of destruction.
Pool& pool()
{
    static Pool& instance = *new Pool;
    return instance;
}

void releaseTensor(void* data)
{
    if (data) pool().release(data);
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

MemoryStats cpuMemory() { return pool().stats(); }
void resetCpuPeak() { pool().resetPeak(); }
void setCpuLimit(std::int64_t bytes) { pool().setLimit(bytes); }

SpillScope::SpillScope(const std::string& folder, std::int64_t threshold) { pool().pushSpill(folder, threshold); }
SpillScope::~SpillScope() { pool().popSpill(); }

std::int64_t tensorLimit(std::int64_t wanted)
{
    const std::int64_t outside = std::max<std::int64_t>(anonymousMemory() - cpuMemory().current, 0) + unaccounted;
    return std::max(wanted - outside, wanted / 4);
}

}  // namespace hopscope::executor

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "base/parallel.h"
#include "base/proc.h"
#include "base/units.h"
#include "graph/adjacency.h"
#include "graph/file.h"

namespace hopscope::graph {

namespace {

constexpr std::int64_t hugePage = 2 << 20, smallPage = 4 << 10;
constexpr std::int64_t touchedAtOnce = 2 << 20;  // bytes, by a thread
constexpr double leastRate = 5e9;         // bytes per second of all threads: about the rate of writing new file pages
constexpr int mostSlow = 2;               // parts
constexpr std::int64_t roomBehind = 128;  // the part of a large array by which its memory is larger

// Arrays of a graph have nearly the same size, with a header or without: memory for one should do for the next.
std::int64_t sizeFor(std::int64_t bytes)
{
    if (bytes < hugePage * 4) return bytes;
    return (bytes + bytes / roomBehind + hugePage - 1) / hugePage * hugePage;
}

double secondsNow()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Allocates all pages, on all threads; false as soon as that is slow, unless a thread only had to wait once.
bool comeFast(std::byte* memory, std::int64_t bytes, int threads)
{
    std::atomic<bool> slow = false;
    base::parallelParts(bytes, threads, touchedAtOnce, [&](int, std::int64_t first, std::int64_t last) {
        int inTurn = 0;
        for (; first < last && !slow; first += touchedAtOnce) {
            const std::int64_t end = std::min(first + touchedAtOnce, last);
            const double began = secondsNow();
            for (std::int64_t at = first; at < end; at += smallPage) memory[at] = std::byte{0};
            const double rate = static_cast<double>(end - first) / (secondsNow() - began);
            inTurn = rate * threads < leastRate ? inTurn + 1 : 0;
            if (inTurn == mostSlow) slow = true;
        }
    });
    return !slow;
}

// Anonymous memory, in use or kept for the next caller.
class AnonymousMemory {
public:
    // nullptr if it is not allowed, or if there is none.
    std::shared_ptr<std::byte> take(std::int64_t bytes, Fill fill)
    {
        std::int64_t size = bytes;
        std::byte* memory = kept(size);
        if (memory && fill == Fill::Zeros) std::memset(memory, 0, static_cast<std::size_t>(bytes));
        if (!memory) memory = fresh(size = sizeFor(bytes));
        return memory ? lent(memory, size) : nullptr;
    }

    // The same with all pages present; also nullptr once pages have arrived slowly.
    std::shared_ptr<std::byte> takeReady(std::int64_t bytes, int threads)
    {
        std::int64_t size = bytes;
        std::byte* memory = kept(size);
        if (memory) return lent(memory, size);
        if (!m_slow) memory = fresh(size = sizeFor(bytes));
        if (!memory) return nullptr;
        if (m_assumedFast || comeFast(memory, size, threads)) return lent(memory, size);
        const std::lock_guard lock(m_mutex);
        m_slow = true;
        unmap(memory, size);
        return nullptr;
    }

    void assumeFast()
    {
        m_assumedFast = true;
        m_slow = false;
    }

    void allow(std::int64_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_allowed = bytes;
        dropKept();
    }

    void drop()
    {
        const std::lock_guard lock(m_mutex);
        dropKept();
        ++m_works;
        m_slow = m_taken && !m_assumedFast;
    }

    std::int64_t allowed()
    {
        const std::lock_guard lock(m_mutex);
        return m_allowed;
    }

    std::int64_t bytes()
    {
        const std::lock_guard lock(m_mutex);
        return m_bytes;
    }

private:
    // Takes kept memory that is at most a quarter larger than needed.
    std::byte* kept(std::int64_t& bytes)
    {
        const std::lock_guard lock(m_mutex);
        const auto it = m_kept.lower_bound(bytes);
        if (it == m_kept.end() || it->first > bytes + bytes / 4) return nullptr;
        bytes = it->first;
        return m_kept.extract(it).mapped();
    }

    std::byte* fresh(std::int64_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        if (m_bytes + bytes > m_allowed) dropKept();
        if (m_bytes + bytes > m_allowed) return nullptr;
        void* const memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        ::madvise(memory, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
        m_bytes += bytes;
        return static_cast<std::byte*>(memory);
    }

    std::shared_ptr<std::byte> lent(std::byte* memory, std::int64_t bytes)
    {
        return {memory, [this, bytes, work = m_works.load()](std::byte* p) { takeBack(p, bytes, work); }};
    }

    // Memory that outlives the piece of work that it was made for is not kept.
    void takeBack(std::byte* memory, std::int64_t bytes, std::int64_t work)
    {
        const std::lock_guard lock(m_mutex);
        if (m_bytes <= m_allowed && work == m_works) m_kept.emplace(bytes, memory);
        else unmap(memory, bytes);
    }

    void dropKept()
    {
        for (const auto& [bytes, memory] : m_kept) unmap(memory, bytes);
        m_kept.clear();
    }

    void unmap(std::byte* memory, std::int64_t bytes)
    {
        ::munmap(memory, static_cast<std::size_t>(bytes));
        m_bytes -= bytes;
    }

    std::mutex m_mutex;
    std::int64_t m_allowed = 0, m_bytes = 0;
    bool m_taken = base::freeMemoryIsTaken();
    std::atomic<std::int64_t> m_works = 0;  // that have ended
    std::atomic<bool> m_slow = m_taken, m_assumedFast = false;
    std::multimap<std::int64_t, std::byte*> m_kept;  // by size
};

// Never destroyed: arrays with static lifetime outlive every order of destruction.
AnonymousMemory& anonymousMemory()
{
    static AnonymousMemory& instance = *new AnonymousMemory;
    return instance;
}

}  // namespace

void allowAnonymousScratch(std::int64_t bytes) { anonymousMemory().allow(bytes); }
std::int64_t anonymousScratchAllowed() { return anonymousMemory().allowed(); }
std::int64_t anonymousScratch() { return anonymousMemory().bytes(); }
void dropScratch() { anonymousMemory().drop(); }

std::shared_ptr<std::byte> readyScratch(std::int64_t size, int threads)
{
    return size > 0 ? anonymousMemory().takeReady(size, threads) : nullptr;
}

void assumeFastPages() { anonymousMemory().assumeFast(); }

base::Result<std::shared_ptr<std::byte>> mapScratch(const std::string& folder, std::int64_t size, Fill fill)
{
    if (auto memory = size > 0 ? anonymousMemory().take(size, fill) : nullptr) return memory;
    return mapScratchFile(folder, size, fill);
}

Scratch::Scratch(std::string folder, std::int64_t threshold) : m_folder(std::move(folder)), m_threshold(threshold) {}

base::Result<std::shared_ptr<std::byte>> Scratch::allocate(std::int64_t bytes, Fill fill) const
{
    if (bytes > m_threshold) return mapScratch(m_folder, bytes, fill);
    void* const memory = std::calloc(static_cast<std::size_t>(bytes > 0 ? bytes : 1), 1);
    if (memory == nullptr)
        return base::fail(base::ErrorCode::Resources,
                          "no memory for a scratch array of " + base::formatBytes(static_cast<double>(bytes)));
    return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), std::free);
}

}  // namespace hopscope::graph

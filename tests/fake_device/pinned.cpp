#include "fake_device/pinned.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace hopscope::fake_device {

namespace {

constexpr std::uintptr_t pageBytes = 4096;
constexpr std::size_t filledBytes = 1 << 20;  // of a fresh block: more would cost time in every test

char* pageAt(const void* address) { return reinterpret_cast<char*>(std::uintptr_t(address) & ~(pageBytes - 1)); }

char* pageAfter(const void* begin, std::size_t bytes)
{
    return reinterpret_cast<char*>((std::uintptr_t(begin) + bytes + pageBytes - 1) & ~(pageBytes - 1));
}

void allow(char* first, char* last, int rights)
{
    TORCH_CHECK(mprotect(first, static_cast<std::size_t>(last - first), rights) == 0, "mprotect failed");
}

int rightsUnder(Direction direction) { return direction == Direction::Up ? PROT_READ : PROT_NONE; }

char* mapped(std::size_t bytes)
{
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TORCH_CHECK(data != MAP_FAILED, "mmap failed");
    return static_cast<char*>(data);
}

}  // namespace

// Blocks under copies are not handed out again: the copies of a freed tensor end on their own.
char* Pinned::take(std::size_t bytes)
{
    for (auto& [data, block] : m_blocks) {
        if (block.used || block.bytes != bytes || underWay(data, data + bytes)) continue;
        block.used = true;
        return data;
    }
    char* const data = mapped(bytes);
    m_blocks[data] = {bytes, true};
    return data;
}

c10::DataPtr Pinned::allocate(std::size_t bytes)
{
    const Lock lock(mutex());
    if (bytes == 0) return {nullptr, nullptr, &release, at::kCPU};
    checkAlive();
    ++state().counts.pinnedAllocations;
    state().counts.pinnedWaste += static_cast<std::int64_t>(std::bit_ceil(bytes) - bytes);
    if (state().pinned.fires() || state().everyPinnedFails) throwCudaError(2);
    char* const data = take(std::bit_ceil(std::max<std::size_t>(bytes, pageBytes)));
    std::memset(data, 0xff, std::min(bytes, filledBytes));
    return {data, data, &release, at::kCPU};
}

void Pinned::release(void* data)
{
    if (!data) return;
    const Lock lock(mutex());
    pinned().m_blocks.at(static_cast<char*>(data)).used = false;
}

// Blocks under copies stay.
void Pinned::empty_cache()
{
    const Lock lock(mutex());
    checkAlive();
    std::erase_if(m_blocks, [this](const auto& each) {
        const auto& [data, block] = each;
        if (block.used || underWay(data, data + block.bytes)) return false;
        munmap(data, block.bytes);
        return true;
    });
}

std::int64_t Pinned::bytes() const
{
    const Lock lock(mutex());
    std::size_t sum = 0;
    for (const auto& [data, block] : m_blocks) sum += block.bytes;
    return static_cast<std::int64_t>(sum);
}

c10::DeleterFnPtr Pinned::raw_deleter() const { return &release; }

void Pinned::copy_data(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

bool Pinned::holds(const void* address) const
{
    const Lock lock(mutex());
    auto* const wanted = static_cast<char*>(const_cast<void*>(address));
    auto after = m_blocks.upper_bound(wanted);
    if (after == m_blocks.begin()) return false;
    const auto& [data, block] = *--after;
    return block.used && wanted < data + block.bytes;
}

bool Pinned::underWay(const char* first, const char* last) const
{
    return std::any_of(m_copies.begin(), m_copies.end(), [&](const Copy& copy) { return copy.meets(first, last); });
}

void Pinned::checkCopy(const void* begin, std::size_t bytes, Direction direction, int lane) const
{
    const char *const first = pageAt(begin), *const last = pageAfter(begin, bytes);
    for (const Copy& copy : m_copies) {
        if (!copy.isInTheWay(direction, first, last) || clocks().knows(lane, copy.mark)) continue;
        refuse("race: " + laneName(lane) + " copies in pinned memory that " + laneName(copy.mark.lane) +
               " copies in, without waiting for it");
    }
}

// Many copies are smaller than a page, and most of the time would go into protecting it for each.
void Pinned::protect(const void* begin, std::size_t bytes, Direction direction, Mark mark)
{
    const Copy copy{{pageAt(begin), pageAfter(begin, bytes)}, direction, mark};
    const bool covered = std::any_of(m_copies.begin(), m_copies.end(), [&](const Copy& other) {
        return other.direction == direction && other.first <= copy.first && copy.last <= other.last;
    });
    m_copies.push_back(copy);
    if (!covered) allow(copy.first, copy.last, rightsUnder(direction));
}

// What downloads write is closer protected than what uploads read.
void Pinned::protectAgain(const char* first, const char* last) const
{
    for (const Direction direction : {Direction::Up, Direction::Down})
        for (const Copy& copy : m_copies)
            if (copy.direction == direction && copy.meets(first, last))
                allow(copy.first, copy.last, rightsUnder(direction));
}

void Pinned::unprotectPassed()
{
    const auto passed = std::stable_partition(m_copies.begin(), m_copies.end(),
                                              [](const Copy& c) { return !clocks().knows(hostLane, c.mark); });
    const std::vector<Range> done = merged({passed, m_copies.end()});
    m_copies.erase(passed, m_copies.end());
    for (const Range& range : done) allow(range.first, range.last, PROT_READ | PROT_WRITE);
    for (const Range& range : done) protectAgain(range.first, range.last);
}

void Pinned::endCopies()
{
    for (const Copy& copy : std::exchange(m_copies, {})) allow(copy.first, copy.last, PROT_READ | PROT_WRITE);
}

// Ranges that touch become one.
std::vector<Pinned::Range> Pinned::merged(std::vector<Range> ranges)
{
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
    std::vector<Range> result;
    for (const Range& range : ranges) {
        if (result.empty() || range.first > result.back().last) result.push_back(range);
        else result.back().last = std::max(result.back().last, range.last);
    }
    return result;
}

bool Pinned::closedTo(Direction direction, const char* first, const char* last) const
{
    return std::any_of(m_copies.begin(), m_copies.end(),
                       [&](const Copy& copy) { return copy.isInTheWay(direction, first, last); });
}

Pinned::Reach::Reach(const void* begin, std::size_t bytes, Direction direction)
    : m_first(pageAt(begin)),
      m_last(pageAfter(begin, bytes)),
      m_opened(pinned().closedTo(direction, m_first, m_last))
{
    if (m_opened) allow(m_first, m_last, PROT_READ | PROT_WRITE);
}

Pinned::Reach::~Reach()
{
    if (m_opened) pinned().protectAgain(m_first, m_last);
}

std::int64_t bytesPinned() { return pinned().bytes(); }

Pinned& pinned()
{
    static Pinned& p = *new Pinned;
    return p;
}

}  // namespace hopscope::fake_device

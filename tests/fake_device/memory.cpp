#include "fake_device/memory.h"

#include <algorithm>
#include <cstring>

namespace hopscope::fake_device {

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
constexpr std::size_t smallest = 512, largestSmall = mib, smallSegment = 2 * mib, largeSegment = 20 * mib,
                      ownSegment = 10 * mib;

std::size_t roundUp(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t segmentBytes(std::size_t bytes)
{
    if (bytes <= largestSmall) return smallSegment;
    return bytes < ownSegment ? largeSegment : roundUp(bytes, 2 * mib);
}

bool worthSplitting(const Block& block, std::size_t bytes)
{
    const std::size_t rest = block.bytes - bytes;
    return block.small ? rest >= smallest : rest > largestSmall;
}

using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;

std::size_t poolIndex(const Block& block)
{
    return static_cast<std::size_t>(block.small ? StatType::SMALL_POOL : StatType::LARGE_POOL);
}

void add(StatArray& stats, const Block& block, std::size_t amount)
{
    stats[0].increase(amount);
    stats.at(poolIndex(block)).increase(amount);
}

void subtract(StatArray& stats, const Block& block, std::size_t amount)
{
    stats[0].decrease(amount);
    stats.at(poolIndex(block)).decrease(amount);
}

template <class Change>
void forEachStat(c10::CachingDeviceAllocator::DeviceStats& s, const Change& change)
{
    for (StatArray* stats : {&s.allocation, &s.segment, &s.active, &s.allocated_bytes, &s.reserved_bytes,
                             &s.active_bytes, &s.requested_bytes})
        for (auto& stat : *stats) change(stat);
}

c10::Device deviceAt(int index) { return {c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(index)}; }

}  // namespace

bool DeviceMemory::Smaller::operator()(const Block* a, const Block* b) const
{
    return std::tie(a->lane, a->bytes, a->address) < std::tie(b->lane, b->bytes, b->address);
}

Block& DeviceMemory::allocate(std::size_t bytes, int lane)
{
    releasePassed();
    const std::size_t rounded = std::max(smallest, roundUp(bytes, smallest));
    if (state().allocation.fires()) throwOutOfMemory(rounded);
    Block* block = takeFree(rounded, lane);
    if (!block) block = takeSegment(rounded, lane);
    if (!block) block = retryWithoutCache(rounded, lane);
    if (!block) throwOutOfMemory(rounded);
    if (worthSplitting(*block, rounded)) splitOff(*block, rounded);
    hand(*block, bytes);
    return *block;
}

Block* DeviceMemory::takeFree(std::size_t bytes, int lane)
{
    Block wanted;
    wanted.bytes = bytes;
    wanted.lane = lane;
    wanted.small = bytes <= largestSmall;
    Pool& pool = poolOf(wanted);
    const auto found = pool.lower_bound(&wanted);
    if (found == pool.end() || (*found)->lane != lane) return nullptr;
    Block* const block = *found;
    pool.erase(found);
    return block;
}

Block* DeviceMemory::takeSegment(std::size_t bytes, int lane)
{
    const std::size_t size = segmentBytes(bytes);
    const std::int64_t reserved = m_stats.reserved_bytes[0].current, wanted = static_cast<std::int64_t>(size);
    if (wanted > freeBytes() || (m_limit > 0 && reserved + wanted > m_limit)) return nullptr;
    const Mapping mapping = takeMapping(size);
    const Mapping& segment = m_segments[mapping.device] = mapping;
    Block& block = m_blocks[mapping.device];
    block.address = mapping.device;
    block.bytes = size;
    block.segment = &segment;
    block.lane = lane;
    block.small = bytes <= largestSmall;
    add(m_stats.segment, block, 1);
    add(m_stats.reserved_bytes, block, size);
    ++m_stats.num_device_alloc;
    return &block;
}

Block* DeviceMemory::retryWithoutCache(std::size_t bytes, int lane)
{
    releaseAllPending();
    giveBackSegments();
    ++m_stats.num_alloc_retries;
    return takeSegment(bytes, lane);
}

void DeviceMemory::splitOff(Block& block, std::size_t bytes)
{
    Block& rest = m_blocks[block.address + bytes];
    rest = block;
    rest.address = block.address + bytes;
    rest.bytes = block.bytes - bytes;
    block.bytes = bytes;
    poolOf(rest).insert(&rest);
}

// Stream order covers what the block's own stream did with it before; other streams' uses were ordered or recorded.
void DeviceMemory::hand(Block& block, std::size_t requested)
{
    block.use = Block::Use::Allocated;
    block.requested = requested;
    block.written = {};
    block.used.clear();
    std::memset(block.host(block.address), 0xff, block.bytes);
    add(m_stats.allocation, block, 1);
    add(m_stats.active, block, 1);
    add(m_stats.allocated_bytes, block, block.bytes);
    add(m_stats.active_bytes, block, block.bytes);
    add(m_stats.requested_bytes, block, requested);
    report(block, static_cast<std::int64_t>(block.bytes));
}

void DeviceMemory::release(Block& block)
{
    if (state().freeThrows && !block.recorded.empty()) checkAlive();
    complainIfInUse(block);
    subtract(m_stats.allocation, block, 1);
    subtract(m_stats.allocated_bytes, block, block.bytes);
    report(block, -static_cast<std::int64_t>(block.bytes));
    if (block.recorded.empty()) return putBack(block);
    for (const int lane : block.recorded) block.freeAt = std::max(block.freeAt, clocks().at(lane).seconds);
    block.use = Block::Use::Pending;
    m_pending.push_back(&block);
}

void DeviceMemory::complainIfInUse(const Block& block) const
{
    for (const Mark mark : block.used) {
        const bool ordered = clocks().knows(block.lane, mark) || clocks().knows(hostLane, mark);
        if (ordered || block.recorded.contains(mark.lane)) continue;
        accuse("memory of " + laneName(block.lane) + " is freed while " + laneName(mark.lane) +
               " uses it (no record_stream, no wait)");
    }
}

void DeviceMemory::putBack(Block& block)
{
    subtract(m_stats.active, block, 1);
    subtract(m_stats.active_bytes, block, block.bytes);
    subtract(m_stats.requested_bytes, block, block.requested);
    block.use = Block::Use::Free;
    block.recorded.clear();
    block.freeAt = 0;
    Block* merged = &block;
    if (Block* const next = freeNeighbour(*merged, true)) {
        merged->bytes += next->bytes;
        m_blocks.erase(next->address);
    }
    if (Block* const previous = freeNeighbour(*merged, false)) {
        previous->bytes += merged->bytes;
        m_blocks.erase(merged->address);
        merged = previous;
    }
    poolOf(*merged).insert(merged);
}

// A free block beside this one in its segment, taken out of its pool.
Block* DeviceMemory::freeNeighbour(const Block& block, bool after)
{
    auto place = m_blocks.find(block.address);
    if (after ? std::next(place) == m_blocks.end() : place == m_blocks.begin()) return nullptr;
    Block& beside = (after ? std::next(place) : std::prev(place))->second;
    if (beside.segment != block.segment || beside.use != Block::Use::Free) return nullptr;
    poolOf(beside).erase(&beside);
    return &beside;
}

void DeviceMemory::releasePassed()
{
    std::vector<Block*> waiting;
    waiting.swap(m_pending);
    for (Block* const block : waiting) {
        if (clocks().passed(block->freeAt)) putBack(*block);
        else m_pending.push_back(block);
    }
}

void DeviceMemory::releaseAllPending()
{
    for (const Block* const block : m_pending) clocks().hostWaitsUntil(block->freeAt);
    releasePassed();
}

void DeviceMemory::giveBackSegments()
{
    for (Pool* const pool : {&m_small, &m_large}) {
        std::vector<Block*> whole;
        for (Block* const block : *pool)
            if (block->bytes == block->segment->bytes) whole.push_back(block);
        if (!whole.empty()) clocks().deviceIsIdle(m_device);
        for (Block* const block : whole) {
            pool->erase(block);
            subtract(m_stats.segment, *block, 1);
            subtract(m_stats.reserved_bytes, *block, block->bytes);
            ++m_stats.num_device_free;
            giveMapping(*block->segment);
            m_segments.erase(block->address);
            m_blocks.erase(block->address);
        }
    }
}

void DeviceMemory::emptyCache()
{
    releaseAllPending();
    giveBackSegments();
}

void DeviceMemory::throwOutOfMemory(std::size_t bytes)
{
    ++m_stats.num_ooms;
    const auto allocated = static_cast<std::size_t>(m_stats.allocated_bytes[0].current);
    const auto reserved = static_cast<std::size_t>(m_stats.reserved_bytes[0].current);
    c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(bytes), allocated, reserved, deviceAt(m_device));
    using c10::CachingAllocator::format_size;
    C10_THROW_ERROR(OutOfMemoryError,
                    "CUDA out of memory. Tried to allocate " + format_size(bytes) + ". GPU " +
                        std::to_string(m_device) + " has " +
                        format_size(static_cast<std::uint64_t>(std::max<std::int64_t>(freeBytes(), 0))) + " free, " +
                        format_size(reserved) + " are reserved.");
}

void DeviceMemory::report(const Block& block, std::int64_t bytes) const
{
    c10::reportMemoryUsageToProfiler(block.address, bytes, static_cast<std::size_t>(m_stats.allocated_bytes[0].current),
                                     static_cast<std::size_t>(m_stats.reserved_bytes[0].current), deviceAt(m_device));
}

Block* DeviceMemory::find(const void* address)
{
    const char* const wanted = static_cast<const char*>(address);
    auto after = m_blocks.upper_bound(wanted);
    if (after == m_blocks.begin()) return nullptr;
    Block& block = std::prev(after)->second;
    return wanted < block.address + block.bytes ? &block : nullptr;
}

void DeviceMemory::resetPeaks()
{
    forEachStat(m_stats, [](auto& stat) { stat.reset_peak(); });
}

void DeviceMemory::resetAccumulated()
{
    forEachStat(m_stats, [](auto& stat) { stat.reset_accumulated(); });
    m_stats.num_alloc_retries = m_stats.num_ooms = 0;
}

std::int64_t DeviceMemory::freeBytes() const
{
    return state().totalMemory - state().others.at(static_cast<std::size_t>(m_device)) -
           m_stats.reserved_bytes[0].current;
}

DeviceMemory& memoryOf(int device)
{
    static auto& memories = *new std::array<DeviceMemory, deviceCount>{DeviceMemory(0), DeviceMemory(1)};
    return memories.at(static_cast<std::size_t>(device));
}

Block& blockAt(const void* address)
{
    for (int device = 0; device < deviceCount; ++device)
        if (Block* const block = memoryOf(device).find(address)) {
            if (block->use == Block::Use::Allocated) return *block;
            refuse("an illegal memory access was encountered: memory that has been freed");
        }
    refuse("an illegal memory access was encountered: no device memory");
}

char* hostAddress(const void* address) { return blockAt(address).host(address); }

void touch(Block& block, Mark mark, bool write)
{
    const auto check = [&](Mark other, const char* what) {
        if (clocks().knows(mark.lane, other)) return;
        refuse("race: " + laneName(mark.lane) + what + laneName(other.lane) + " without waiting for it");
    };
    check(block.written, write ? " overwrites what is written by " : " reads what is written by ");
    if (write)
        for (const Mark other : block.used) check(other, " overwrites what is read by ");
    const auto known = std::find_if(block.used.begin(), block.used.end(), [&](Mark m) { return m.lane == mark.lane; });
    if (known == block.used.end()) block.used.push_back(mark);
    else *known = mark;
    if (write) block.written = mark;
}

}  // namespace hopscope::fake_device

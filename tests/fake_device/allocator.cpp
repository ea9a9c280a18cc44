#include "fake_device/allocator.h"

#include <algorithm>
#include <cstring>

#include "fake_device/guard.h"
#include "fake_device/memory.h"

namespace hopscope::fake_device {

namespace {

std::atomic<bool> ready = false;

class Allocator final : public c10::DeviceAllocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override;
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override;
    bool initialized() override { return ready; }
    void emptyCache(c10::MempoolId_t pool) override;
    void recordStream(const c10::DataPtr& data, c10::Stream stream) override;
    c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override;
    void resetAccumulatedStats(c10::DeviceIndex device) override;
    void resetPeakStats(c10::DeviceIndex device) override;
    std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex device) override;

private:
    static void release(void* data);
};

// LibTorch's allocator knows of no device before CUDA is initialised.
DeviceMemory& readyMemoryOf(c10::DeviceIndex device)
{
    const bool valid = ready && device >= 0 && device < deviceCount;
    TORCH_CHECK(valid, "Invalid device argument ", int{device}, ": did you call init?");
    return memoryOf(device);
}

c10::DataPtr Allocator::allocate(std::size_t bytes)
{
    const Lock lock(mutex());
    const int device = currentDevice();
    const c10::Device place(deviceType, static_cast<c10::DeviceIndex>(device));
    if (bytes == 0) return {nullptr, nullptr, &release, place};
    checkAlive();
    ++state().counts.allocations;
    state().counts.largest = std::max(state().counts.largest, static_cast<std::int64_t>(bytes));
    char* const data = readyMemoryOf(place.index()).allocate(bytes, currentLane(device)).address;
    return {data, data, &release, place};
}

void Allocator::release(void* data)
{
    if (!data) return;
    const Lock lock(mutex());
    for (int device = 0; device < deviceCount; ++device)
        if (Block* const block = memoryOf(device).find(data)) memoryOf(device).release(*block);
}

void Allocator::copy_data(void* to, const void* from, std::size_t bytes) const
{
    const Lock lock(mutex());
    const Mark mark = clocks().launch(currentLane(currentDevice()));
    touch(blockAt(from), mark, false);
    touch(blockAt(to), mark, true);
    std::memcpy(hostAddress(to), hostAddress(from), bytes);
}

void Allocator::emptyCache(c10::MempoolId_t)
{
    const Lock lock(mutex());
    checkAlive();
    for (int device = 0; device < deviceCount; ++device) memoryOf(device).emptyCache();
}

void Allocator::recordStream(const c10::DataPtr& data, c10::Stream stream)
{
    const Lock lock(mutex());
    if (!data.get() || forgets(Call::RecordStream)) return;
    Block& block = blockAt(data.get());
    if (laneOf(stream) != block.lane) block.recorded.insert(laneOf(stream));
}

c10::CachingDeviceAllocator::DeviceStats Allocator::getDeviceStats(c10::DeviceIndex device)
{
    const Lock lock(mutex());
    return readyMemoryOf(device).stats();
}

void Allocator::resetAccumulatedStats(c10::DeviceIndex device)
{
    const Lock lock(mutex());
    readyMemoryOf(device).resetAccumulated();
}

void Allocator::resetPeakStats(c10::DeviceIndex device)
{
    const Lock lock(mutex());
    readyMemoryOf(device).resetPeaks();
}

std::pair<std::size_t, std::size_t> Allocator::getMemoryInfo(c10::DeviceIndex device)
{
    const Lock lock(mutex());
    checkAlive();
    const std::int64_t free = std::max<std::int64_t>(0, memoryOf(device).freeBytes());
    return {static_cast<std::size_t>(free), static_cast<std::size_t>(state().totalMemory)};
}

}  // namespace

c10::DeviceAllocator& allocator()
{
    static Allocator& a = *new Allocator;
    return a;
}

void initialise() { ready = true; }

bool initialised() { return ready; }

void registerAllocator() { c10::SetAllocator(deviceType, &allocator()); }

}  // namespace hopscope::fake_device

#include "fake_device/guard.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "fake_device/allocator.h"

namespace hopscope::fake_device {

namespace {

thread_local int threadDevice = 0;
thread_local std::array<std::int64_t, deviceCount> threadStreams{};

c10::Device deviceAt(int index) { return {deviceType, static_cast<c10::DeviceIndex>(index)}; }

int indexOf(c10::Device device)
{
    const int index = device.has_index() ? device.index() : threadDevice;
    TORCH_CHECK(index < deviceCount, "CUDA error: invalid device ordinal");
    return index;
}

c10::Stream streamAt(int device, std::int64_t id) { return c10::Stream(c10::Stream::UNSAFE, deviceAt(device), id); }

struct Event {
    Moment moment;
    int device = 0;
    bool timing = false;
};

Event& eventAt(void* event) { return *static_cast<Event*>(event); }

struct Guard final : c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override { return deviceType; }
    c10::Device exchangeDevice(c10::Device device) const override;
    c10::Device getDevice() const override { return deviceAt(threadDevice); }
    void setDevice(c10::Device device) const override { exchangeDevice(device); }
    void uncheckedSetDevice(c10::Device device) const noexcept override;
    c10::Stream getStream(c10::Device device) const override;
    c10::Stream getDefaultStream(c10::Device device) const override { return streamAt(indexOf(device), 0); }
    c10::Stream getStreamFromGlobalPool(c10::Device device, bool highPriority) const override;
    c10::Stream getNewStream(c10::Device device, int) const override { return getStreamFromGlobalPool(device, false); }
    c10::Stream exchangeStream(c10::Stream stream) const override;
    void* getStreamNativeHandle(const c10::Stream stream) const override;
    c10::DeviceIndex deviceCount() const noexcept override { return fake_device::deviceCount; }

    void record(void** event, const c10::Stream& stream, const c10::DeviceIndex device,
                const c10::EventFlag flag) const override;
    void block(void* event, const c10::Stream& stream) const override;
    bool queryEvent(void* event) const override;
    void synchronizeEvent(void* event) const override;
    double elapsedTime(void* begin, void* end, const c10::DeviceIndex device) const override;
    void destroyEvent(void* event, const c10::DeviceIndex device) const noexcept override;

    bool queryStream(const c10::Stream& stream) const override;
    void synchronizeStream(const c10::Stream& stream) const override;
    void synchronizeDevice(const c10::DeviceIndex device) const override;
    void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override;
};

c10::Device Guard::exchangeDevice(c10::Device device) const
{
    const c10::Device before = getDevice();
    const int wanted = indexOf(device);
    if (wanted != threadDevice && !forgets(Call::SetDevice)) threadDevice = wanted;
    return before;
}

void Guard::uncheckedSetDevice(c10::Device device) const noexcept
{
    if (device.has_index()) threadDevice = device.index();
}

c10::Stream Guard::getStream(c10::Device device) const
{
    const int index = indexOf(device);
    return streamAt(index, threadStreams.at(static_cast<std::size_t>(index)));
}

c10::Stream Guard::getStreamFromGlobalPool(c10::Device device, bool) const
{
    const Lock lock(mutex());
    static std::array<int, fake_device::deviceCount> given{};
    const int index = indexOf(device);
    return streamAt(index, 1 + given.at(static_cast<std::size_t>(index))++ % pooledStreams);
}

c10::Stream Guard::exchangeStream(c10::Stream stream) const
{
    const c10::Stream before = getStream(stream.device());
    if (stream == before || forgets(Call::ExchangeStream)) return before;
    threadStreams.at(static_cast<std::size_t>(stream.device_index())) = stream.id();
    return before;
}

// As in CUDA, the default stream of the current device has none.
void* Guard::getStreamNativeHandle(const c10::Stream stream) const
{
    return stream.id() == 0 ? nullptr
                            : reinterpret_cast<void*>(static_cast<std::intptr_t>(fake_device::laneOf(stream)));
}

void Guard::record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag flag) const
{
    const Lock lock(mutex());
    checkAlive();
    if (!*event) *event = new Event{{}, stream.device_index(), flag == c10::EventFlag::BACKEND_DEFAULT};
    TORCH_CHECK(eventAt(*event).device == stream.device_index(), "Event device ", eventAt(*event).device,
                " does not match recording stream's device ", int{stream.device_index()}, ".");
    eventAt(*event).moment = clocks().record(fake_device::laneOf(stream));
}

void Guard::block(void* event, const c10::Stream& stream) const
{
    const Lock lock(mutex());
    checkAlive();
    if (!event || forgets(Call::StreamWaits)) return;
    clocks().streamWaits(fake_device::laneOf(stream), eventAt(event).moment);
}

bool Guard::queryEvent(void* event) const
{
    const Lock lock(mutex());
    checkAlive();
    return !event || clocks().hostAsks(eventAt(event).moment);
}

void Guard::synchronizeEvent(void* event) const
{
    const Lock lock(mutex());
    checkAlive();
    if (!event || forgets(Call::HostWaits)) return;
    ++state().counts.hostWaits;
    clocks().hostWaits(eventAt(event).moment);
}

// Milliseconds with the 24 bits of a float, as from CUDA.
double Guard::elapsedTime(void* begin, void* end, const c10::DeviceIndex) const
{
    const Lock lock(mutex());
    checkAlive();
    TORCH_CHECK(begin && end, "Both events must be recorded before calculating elapsed time.");
    const Event &first = eventAt(begin), &last = eventAt(end);
    TORCH_CHECK(first.timing && last.timing, "CUDA error: invalid resource handle: events without timing");
    TORCH_CHECK(first.device == last.device, "CUDA error: invalid resource handle: events of two devices");
    return static_cast<float>((last.moment.seconds - first.moment.seconds) * 1e3);
}

void Guard::destroyEvent(void* event, const c10::DeviceIndex) const noexcept { delete static_cast<Event*>(event); }

bool Guard::queryStream(const c10::Stream& stream) const
{
    const Lock lock(mutex());
    checkAlive();
    return clocks().hostAsks(clocks().at(fake_device::laneOf(stream)));
}

void Guard::synchronizeStream(const c10::Stream& stream) const
{
    const Lock lock(mutex());
    checkAlive();
    if (forgets(Call::StreamFinishes)) return;
    ++state().counts.hostWaits;
    clocks().hostWaits(clocks().at(fake_device::laneOf(stream)));
}

void Guard::synchronizeDevice(const c10::DeviceIndex device) const
{
    for (int stream = 0; stream < streamsEach; ++stream) synchronizeStream(streamAt(device, stream));
}

void Guard::recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const
{
    allocator().recordStream(data, stream);
}

}  // namespace

int currentDevice() { return threadDevice; }

int currentLane(int device) { return laneOf(device, threadStreams.at(static_cast<std::size_t>(device))); }

int laneOf(const c10::Stream& stream) { return laneOf(stream.device_index(), stream.id()); }

OwnGuard::OwnGuard(c10::Device device) : m_before(threadDevice) { threadDevice = indexOf(device); }

OwnGuard::~OwnGuard() { threadDevice = m_before; }

void registerGuard() { static const c10::impl::DeviceGuardImplRegistrar registrar(deviceType, new Guard); }

}  // namespace hopscope::fake_device

#include "fake_device/clocks.h"

#include <algorithm>

#include "fake_device/pinned.h"

namespace hopscope::fake_device {

namespace {

void merge(VectorClock& into, const VectorClock& from)
{
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

double transfer(std::int64_t bytes, double bytesPerSecond)
{
    return bytesPerSecond > 0 ? static_cast<double>(bytes) / bytesPerSecond : 0;
}

double duration(Engine engine, std::int64_t bytes)
{
    const Latency& l = state().latency;
    switch (engine) {
    case Engine::HostToDevice: return l.copyLatency + transfer(bytes, l.h2dBytesPerSecond);
    case Engine::DeviceToHost: return l.copyLatency + transfer(bytes, l.d2hBytesPerSecond);
    case Engine::Compute: break;
    }
    return l.kernelSeconds + transfer(bytes, l.kernelBytesPerSecond);
}

double& busyOf(BusySeconds& busy, Engine engine)
{
    if (engine == Engine::HostToDevice) return busy.h2d;
    return engine == Engine::DeviceToHost ? busy.d2h : busy.compute;
}

}  // namespace

int laneOf(int device, std::int64_t stream) { return 1 + device * streamsEach + static_cast<int>(stream); }

int deviceOf(int lane) { return (lane - 1) / streamsEach; }

std::string laneName(int lane)
{
    if (lane == hostLane) return "the host";
    return "stream " + std::to_string((lane - 1) % streamsEach) + " of cuda:" + std::to_string(deviceOf(lane));
}

Mark Clocks::launch(int lane)
{
    checkAlive();
    Moment& moment = m_lanes[static_cast<std::size_t>(lane)];
    merge(moment.clock, m_lanes[hostLane].clock);
    return {lane, ++moment.clock[static_cast<std::size_t>(lane)]};
}

// An engine takes its work in the order of the launches.
void Clocks::charge(int lane, Engine engine, std::int64_t bytes)
{
    Moment &stream = m_lanes[static_cast<std::size_t>(lane)], &host = m_lanes[hostLane];
    host.seconds += state().latency.launchSeconds;
    double& free = freeFrom(lane, engine);
    const double start = std::max({stream.seconds, host.seconds, engine == Engine::Compute ? 0 : free});
    const double seconds = duration(engine, bytes);
    stream.seconds = free = start + seconds;
    busyOf(m_busy, engine) += seconds;
}

void Clocks::chargeKernel(int lane, std::int64_t bytes, std::int64_t hostBytes)
{
    if (hostBytes == 0) return charge(lane, Engine::Compute, bytes);
    Moment &stream = m_lanes[static_cast<std::size_t>(lane)], &host = m_lanes[hostLane];
    host.seconds += state().latency.launchSeconds;
    double& link = freeFrom(lane, Engine::HostToDevice);
    const double start = std::max({stream.seconds, host.seconds, link});
    const double read = transfer(hostBytes, state().latency.hostReadBytesPerSecond);
    const double seconds = std::max(duration(Engine::Compute, bytes), read);
    link = start + read;
    stream.seconds = start + seconds;
    m_busy.h2d += read;
    m_busy.compute += seconds;
}

double& Clocks::freeFrom(int lane, Engine engine)
{
    return m_freeFrom.at(static_cast<std::size_t>(deviceOf(lane))).at(static_cast<std::size_t>(engine));
}

bool Clocks::knows(int lane, Mark mark) const
{
    return at(lane).clock[static_cast<std::size_t>(mark.lane)] >= mark.tick;
}

Moment Clocks::record(int lane)
{
    launch(lane);
    Moment& stream = m_lanes[static_cast<std::size_t>(lane)];
    stream.seconds = std::max(stream.seconds, m_lanes[hostLane].seconds);
    return stream;
}

void Clocks::streamWaits(int lane, const Moment& moment)
{
    Moment& stream = m_lanes[static_cast<std::size_t>(lane)];
    merge(stream.clock, moment.clock);
    stream.seconds = std::max(stream.seconds, moment.seconds);
}

bool Clocks::hostAsks(const Moment& moment)
{
    constexpr double leastSeconds = 1e-6;
    if (passed(moment.seconds)) {
        hostWaits(moment);
        return true;
    }
    advanceHost(std::max(leastSeconds, state().latency.launchSeconds));
    return false;
}

void Clocks::hostWaits(const Moment& moment)
{
    merge(m_lanes[hostLane].clock, moment.clock);
    hostWaitsUntil(moment.seconds);
    pinned().unprotectPassed();
}

void Clocks::hostWaitsUntil(double seconds)
{
    m_lanes[hostLane].seconds = std::max(m_lanes[hostLane].seconds, seconds);
}

void Clocks::deviceIsIdle(int device)
{
    for (int stream = 0; stream < streamsEach; ++stream) hostWaitsUntil(at(laneOf(device, stream)).seconds);
}

void Clocks::restart()
{
    for (int device = 0; device < deviceCount; ++device) deviceIsIdle(device);
    m_origin = m_lanes[hostLane].seconds;
    m_freeFrom = {};
    m_busy = {};
}

Clocks& clocks()
{
    static Clocks& c = *new Clocks;
    return c;
}

void setLatency(const Latency& latency)
{
    const Lock lock(mutex());
    state().latency = latency;
}

double virtualSeconds()
{
    const Lock lock(mutex());
    return clocks().hostSeconds();
}

void advanceHost(double seconds)
{
    const Lock lock(mutex());
    clocks().advanceHost(seconds);
}

BusySeconds busySeconds()
{
    const Lock lock(mutex());
    return clocks().busy();
}

void resetClock()
{
    const Lock lock(mutex());
    clocks().restart();
}

}  // namespace hopscope::fake_device

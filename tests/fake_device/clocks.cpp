#include "fake_device/clocks.h"

#include <algorithm>

#include "fake_device/guard.h"
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

double duration(const Work& kernel)
{
    const Latency& l = state().latency;
    const double gather = l.gatherBytesPerSecond > 0 ? l.gatherBytesPerSecond : l.kernelBytesPerSecond;
    const double moving = transfer(kernel.bytes, l.kernelBytesPerSecond) + transfer(kernel.gathered, gather);
    return l.kernelSeconds + std::max(moving, transfer(kernel.operations, l.operationsPerSecond));
}

double duration(Engine engine, std::int64_t bytes)
{
    const Latency& l = state().latency;
    switch (engine) {
    case Engine::HostToDevice: return l.copyLatency + transfer(bytes, l.h2dBytesPerSecond);
    case Engine::DeviceToHost: return l.copyLatency + transfer(bytes, l.d2hBytesPerSecond);
    case Engine::Peer: return l.copyLatency + transfer(bytes, l.peerBytesPerSecond);
    case Engine::Compute: break;
    }
    return duration(Work{.bytes = bytes});
}

double& busyOf(BusySeconds& busy, Engine engine)
{
    if (engine == Engine::HostToDevice) return busy.h2d;
    if (engine == Engine::Peer) return busy.peer;
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

void Clocks::charge(int lane, Engine engine, std::int64_t bytes) { occupy(lane, engine, duration(engine, bytes)); }

void Clocks::charge(int lane, const Work& kernel)
{
    if (kernel.hostReads == 0) return occupy(lane, Engine::Compute, duration(kernel));
    double& link = freeFrom(lane, Engine::HostToDevice);
    Moment& stream = m_lanes[static_cast<std::size_t>(lane)];
    stream.seconds = std::max(stream.seconds, link);
    const double read = transfer(kernel.hostReads, state().latency.hostReadBytesPerSecond);
    const double seconds = std::max(duration(kernel), read);
    occupy(lane, Engine::Compute, seconds);
    link = stream.seconds - seconds + read;
    m_busy.h2d += read;
}

// An engine takes its work in the order of the launches.
void Clocks::occupy(int lane, Engine engine, double seconds)
{
    Moment& stream = m_lanes[static_cast<std::size_t>(lane)];
    double& host = hostOf(lane);
    host += state().latency.launchSeconds;
    double& free = freeFrom(lane, engine);
    const double start = std::max({stream.seconds, host, engine == Engine::Compute ? 0 : free});
    stream.seconds = free = start + seconds;
    busyOf(m_busy, engine) += seconds;
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
    stream.seconds = std::max(stream.seconds, hostOf(lane));
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

void Clocks::hostWaitsUntil(double seconds) { hostHere() = std::max(hostHere(), seconds); }

double& Clocks::hostHere() { return m_hosts.at(static_cast<std::size_t>(currentDevice())); }

bool Clocks::passed(double seconds) const { return seconds <= m_hosts.at(static_cast<std::size_t>(currentDevice())); }

double Clocks::hostSeconds() const { return std::ranges::max(m_hosts) - m_origin; }

void Clocks::advanceHost(double seconds) { hostHere() += seconds; }

void Clocks::hostsMeet() { m_hosts.fill(std::ranges::max(m_hosts)); }

void Clocks::deviceIsIdle(int device)
{
    for (int stream = 0; stream < streamsEach; ++stream) hostWaitsUntil(at(laneOf(device, stream)).seconds);
}

void Clocks::restart()
{
    for (int device = 0; device < deviceCount; ++device) deviceIsIdle(device);
    hostsMeet();
    m_origin = m_hosts[0];
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

void hostsMeet()
{
    const Lock lock(mutex());
    clocks().hostsMeet();
}

void resetClock()
{
    const Lock lock(mutex());
    clocks().restart();
}

}  // namespace hopscope::fake_device

#pragma once

// Private to the fake device: who knows of what, and when it was. A lane is the host or one stream of one device; each
// has a vector clock (what it is ordered after) and a time on the virtual clock.

#include <array>
#include <cstdint>

#include "fake_device/state.h"

namespace hopscope::fake_device {

inline constexpr int pooledStreams = 8;  // of a device, besides its default stream; handed out in turn
inline constexpr int streamsEach = 1 + pooledStreams;
inline constexpr int hostLane = 0;
inline constexpr int lanes = 1 + deviceCount * streamsEach;

int laneOf(int device, std::int64_t stream);
int deviceOf(int lane);
std::string laneName(int lane);  // "stream 0 of cuda:1"

using VectorClock = std::array<std::uint64_t, lanes>;

// One piece of work: the how-manieth of its lane.
struct Mark {
    int lane = hostLane;
    std::uint64_t tick = 0;
};

// All that a lane is ordered after at some point, and the time there.
struct Moment {
    VectorClock clock{};
    double seconds = 0;
};

enum class Engine : std::uint8_t { HostToDevice, Compute, DeviceToHost };

class Clocks {
public:
    // Queues a piece of work: it comes after all that the host and its stream know.
    Mark launch(int lane);
    // What the work that was launched last on this lane takes.
    void charge(int lane, Engine engine, std::int64_t bytes);

    // The same for a kernel that also reads `hostBytes` of pinned memory, over the link that copies to the device use.
    void chargeKernel(int lane, std::int64_t bytes, std::int64_t hostBytes);

    [[nodiscard]] const Moment& at(int lane) const { return m_lanes[static_cast<std::size_t>(lane)]; }
    [[nodiscard]] bool knows(int lane, Mark mark) const;
    [[nodiscard]] bool passed(double seconds) const { return seconds <= at(hostLane).seconds; }
    [[nodiscard]] double hostSeconds() const { return at(hostLane).seconds - m_origin; }
    [[nodiscard]] const BusySeconds& busy() const { return m_busy; }

    // What an event remembers that is recorded now.
    Moment record(int lane);
    void streamWaits(int lane, const Moment& moment);
    // Asks without waiting; knows, if it has passed. A host that asks in a loop gets on.
    bool hostAsks(const Moment& moment);
    void hostWaits(const Moment& moment);
    // Lets time pass without learning anything.
    void hostWaitsUntil(double seconds);
    void deviceIsIdle(int device);  // time until then passes
    void advanceHost(double seconds) { m_lanes[hostLane].seconds += seconds; }
    // Everything has passed, and the host's time counts from now; what is known stays known.
    void restart();

private:
    double& freeFrom(int lane, Engine engine);

    std::array<Moment, lanes> m_lanes{};
    std::array<std::array<double, 3>, deviceCount> m_freeFrom{};
    BusySeconds m_busy;
    double m_origin = 0;
};

Clocks& clocks();

}  // namespace hopscope::fake_device

#pragma once

// Private to the fake device: who knows of what, and when it was. A lane is the host or one stream of one device; each
// has a vector clock (what it is ordered after) and a time on the virtual clock. A thread's time is that of its current device:
// each device is driven by a thread of its own.

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

enum class Engine : std::uint8_t { HostToDevice, Compute, DeviceToHost, Peer };

// What a kernel does. A product moves bytes while it computes; rows along edges are read before or after other bytes, but
// meanwhile those in pinned memory (`hostReads`, in bytes), across the link that copies to the device use.
struct Work {
    std::int64_t bytes = 0, gathered = 0, operations = 0, hostReads = 0;
};

class Clocks {
public:
    // Queues a piece of work: it comes after all that the host and its stream know.
    Mark launch(int lane);
    // What the work that was launched last on this lane takes.
    void charge(int lane, Engine engine, std::int64_t bytes);
    void charge(int lane, const Work& kernel);

    [[nodiscard]] const Moment& at(int lane) const { return m_lanes[static_cast<std::size_t>(lane)]; }
    [[nodiscard]] bool knows(int lane, Mark mark) const;
    [[nodiscard]] bool passed(double seconds) const;
    [[nodiscard]] double hostSeconds() const;  // of the thread that is furthest
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
    void advanceHost(double seconds);
    void hostsMeet();  // all threads are as far as the one that is furthest
    // Everything has passed, and the host's time counts from now; what is known stays known.
    void restart();

private:
    void occupy(int lane, Engine engine, double seconds);
    double& freeFrom(int lane, Engine engine);
    double& hostOf(int lane) { return m_hosts.at(static_cast<std::size_t>(deviceOf(lane))); }
    double& hostHere();

    std::array<Moment, lanes> m_lanes{};
    std::array<double, deviceCount> m_hosts{};  // the time of the thread that drives each device
    std::array<std::array<double, 4>, deviceCount> m_freeFrom{};
    BusySeconds m_busy;
    double m_origin = 0;
};

Clocks& clocks();

}  // namespace hopscope::fake_device

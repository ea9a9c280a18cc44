#pragma once

// Private to the fake device: what all its parts share.

#include <array>
#include <mutex>
#include <string>

#include "fake_device/fake_device.h"

namespace hopscope::fake_device {

// One lock for everything: LibTorch calls back from within.
using Lock = std::lock_guard<std::recursive_mutex>;
std::recursive_mutex& mutex();

// Counts down to a fault that happens once.
class Countdown {
public:
    void start(std::int64_t nth) { m_left = nth; }
    bool fires() { return m_left > 0 && --m_left == 0; }

private:
    std::int64_t m_left = 0;
};

struct Mutation {
    int everyNth = 0;
    std::int64_t calls = 0, dropped = 0;
};

struct State {
    Counts counts;
    Latency latency;
    Countdown allocation, pinned, segment;
    bool everyPinnedFails = false, peerAccess = true, freeThrows = false;
    int segmentCode = 0;
    int deadCode = 0;  // the context's last error; 0: alive
    std::int64_t totalMemory = std::int64_t{4} << 30;
    std::array<std::int64_t, deviceCount> others{};
    std::optional<executor::GpuListing> listing;
    std::array<Mutation, 6> mutations{};
    std::vector<std::string> findings;
};

State& state();

// Remembers a finding and throws it.
[[noreturn]] void refuse(const std::string& finding);
// Remembers a finding; ends the process unless somebody collects.
void accuse(const std::string& finding) noexcept;

// Whether this call is one of those to be forgotten.
bool forgets(Call call);

// Throws CUDA's error, as a c10::AcceleratorError.
[[noreturn]] void throwCudaError(int code);
// Throws if the context is dead.
void checkAlive();

}  // namespace hopscope::fake_device

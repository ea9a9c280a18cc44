#pragma once

// Private to the fake device: what is current on the calling thread, and LibTorch's device guard.

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include "fake_device/clocks.h"

namespace hopscope::fake_device {

inline constexpr c10::DeviceType deviceType = c10::DeviceType::PrivateUse1;

int currentDevice();
int currentLane(int device);  // of the device's current stream
int laneOf(const c10::Stream& stream);

// Makes a device current as CUDA's own operators do; no mutation drops it.
class OwnGuard {
public:
    explicit OwnGuard(c10::Device device);
    ~OwnGuard();
    OwnGuard(const OwnGuard&) = delete;
    OwnGuard& operator=(const OwnGuard&) = delete;

private:
    int m_before;
};

void registerGuard();

}  // namespace hopscope::fake_device

#pragma once

// The NVIDIA GPUs of this machine as the driver's own library lists them. Listing creates no context on them and takes
// none of their memory; no CUDA header or library is needed to build this.

#include <cstdint>
#include <string>
#include <vector>

namespace hopscope::gpu {

struct Gpu {
    std::string name;          // "NVIDIA H100 80GB HBM3"
    std::int64_t memory = 0;   // bytes in all
    int major = 0, minor = 0;  // compute capability
};

struct Driver {
    int hardware = 0;     // NVIDIA GPUs that the kernel shows, whether or not a driver works
    bool loaded = false;  // the driver's kernel module
    std::string version;  // of that: "580.65.06"; empty: not known

    bool library = false;   // libcuda.so.1 could be loaded
    int initResult = 0;     // the result of its cuInit; 0: it works
    std::string initText;   // the library's text for that
    int cudaVersion = 0;    // the newest CUDA that it supports: 13000 is 13.0; 0: not known
    std::vector<Gpu> gpus;  // in CUDA's numbering: "cuda:N" is gpus[N]; respects CUDA_VISIBLE_DEVICES

    bool hiding = false;         // CUDA_VISIBLE_DEVICES is set
    std::string visibleDevices;  // its value
};

// The paths to read; tests pass others.
struct Places {
    std::string library = "libcuda.so.1";
    std::string proc = "/proc", sys = "/sys", dev = "/dev";
};

Driver readDriver(const Places& places = {});

// "580.65.06, CUDA 13.0", as far as known.
std::string driverText(const Driver& driver);

std::string cudaText(int version);  // 13000 -> "13.0"

}  // namespace hopscope::gpu

#pragma once

// Lists the NVIDIA GPUs of this machine with the driver's own library, and describes the driver. This creates no
// contexts on the GPUs and takes none of their memory. Building this module requires no CUDA headers or libraries.

#include <cstdint>
#include <string>
#include <vector>

namespace hopscope::gpu {

struct Gpu {
    std::string name;          // "NVIDIA H100 80GB HBM3"
    std::int64_t memory = 0;   // total bytes
    int major = 0, minor = 0;  // compute capability
};

struct Driver {
    int hardware = 0;     // NVIDIA GPUs that the kernel shows, whether or not a driver works
    bool loaded = false;  // the driver's kernel module is loaded
    std::string version;  // of the kernel module: "580.65.06"; empty: unknown

    bool library = false;   // libcuda.so.1 could be loaded
    int initResult = 0;     // the result of its cuInit; 0: success, or no library
    std::string initText;   // the library's description of that result; empty: success, or no library
    int cudaVersion = 0;    // the newest CUDA version that the library supports: 13000 is 13.0; 0: unknown
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

// Returns whether a GPU can write to the memory of another one (peer access); false if the library does not say.
bool reaches(int from, int to, const Places& places = {});

// Describes the driver, as far as it is known: "580.65.06, CUDA 13.0".
std::string driverText(const Driver& driver);

std::string cudaText(int version);  // 13000 -> "13.0"

}  // namespace hopscope::gpu

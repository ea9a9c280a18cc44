// What core/gpu asks of libcuda.so.1, answered from the environment:
//   STAND_IN_GPUS     "NAME;BYTES;MAJOR;MINOR" for each GPU, separated by "|"; empty: none
//   STAND_IN_CUDA     cuDriverGetVersion, 13000 if nothing is said
//   STAND_IN_INIT     what cuInit gives, 0 if nothing is said
// CUDA_VISIBLE_DEVICES is not heeded. A context, were one made, would end the process: there is no such function.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string said(const char* name, const char* otherwise)
{
    const char* const text = std::getenv(name);
    return text != nullptr ? text : otherwise;
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

std::vector<std::string> gpu(int device) { return split(split(said("STAND_IN_GPUS", ""), '|').at(device), ';'); }

bool initialised = false;
constexpr int notInitialised = 3;

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version)
{
    *version = std::stoi(said("STAND_IN_CUDA", "13000"));
    return 0;
}

int cuInit(unsigned)
{
    const int result = std::stoi(said("STAND_IN_INIT", "0"));
    initialised = result == 0;
    return result;
}

int cuGetErrorString(int error, const char** text)
{
    *text = error == 100 ? "no CUDA-capable device is detected" : "system has unsupported driver combination";
    return error == 77 ? 1 : 0;
}

int cuDeviceGetCount(int* count)
{
    *count = static_cast<int>(split(said("STAND_IN_GPUS", ""), '|').size());
    return initialised ? 0 : notInitialised;
}

// Handles are not numbers of GPUs.
int cuDeviceGet(int* device, int index)
{
    *device = index + 40;
    return 0;
}

int cuDeviceGetName(char* name, int length, int device)
{
    std::strncpy(name, gpu(device - 40).at(0).c_str(), static_cast<std::size_t>(length));
    return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device)
{
    *bytes = std::stoull(gpu(device - 40).at(1));
    return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device)
{
    if (attribute != 75 && attribute != 76) return 1;
    *value = std::stoi(gpu(device - 40).at(attribute == 75 ? 2 : 3));
    return 0;
}

// GPUs of one name reach each other.
int cuDeviceCanAccessPeer(int* can, int from, int to)
{
    *can = gpu(from - 40).at(0) == gpu(to - 40).at(0) ? 1 : 0;
    return initialised ? 0 : notInitialised;
}

}  // extern "C"

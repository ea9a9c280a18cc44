// What core/gpu asks of libcuda.so.1, answered from the environment:
//   STAND_IN_GPUS     "NAME;BYTES;MAJOR;MINOR" for each GPU, separated by "|"; empty: none
//   STAND_IN_CUDA     cuDriverGetVersion, 13000 if nothing is said
//   STAND_IN_INIT     what cuInit gives, 0 if nothing is said
// CUDA_VISIBLE_DEVICES is not heeded. A context, were one made, would end the process: there is no such function.
//
// As in NVIDIA's library, cuInit names a thread, makes memory that others can map, and listens on a socket, and gives
// CUDA_ERROR_OPERATING_SYSTEM if the system does not allow it.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
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
constexpr int notInitialised = 3, refusedBySystem = 304;

bool namesThread()
{
    const std::string file = "/proc/self/task/" + std::to_string(::gettid()) + "/comm";
    const int handle = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    const bool named = handle >= 0 && ::write(handle, "cuda", 4) == 4;
    ::close(handle);
    return named;
}

bool listens()
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = "cuda-uvmfd-stand-in-" + std::to_string(::getpid());
    name.copy(address.sun_path + 1, name.size());
    const int handle = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return handle >= 0 && ::bind(handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
           ::listen(handle, 1) == 0;
}

bool starts()
{
    bool named = false;
    std::thread([&] { named = namesThread(); }).join();
    return named && ::memfd_create("cuda", MFD_CLOEXEC) >= 0 && listens();
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version)
{
    *version = std::stoi(said("STAND_IN_CUDA", "13000"));
    return 0;
}

int cuInit(unsigned)
{
    static const bool started = starts();
    const int result = std::stoi(said("STAND_IN_INIT", "0"));
    initialised = started && result == 0;
    return started ? result : refusedBySystem;
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

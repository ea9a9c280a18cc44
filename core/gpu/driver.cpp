#include "gpu/driver.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>

#include "gpu/hardware.h"

namespace hopscope::gpu {

namespace {

// CUdevice_attribute: the two halves of the compute capability.
constexpr int attributeMajor = 75, attributeMinor = 76;
constexpr int ok = 0;

// The driver's library. It is never closed: it does not stand that once it has been initialised.
class Library {
public:
    explicit Library(const std::string& path) : m_handle(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

    [[nodiscard]] bool loaded() const { return m_handle != nullptr; }

    // Returns the function's CUresult, 0 on success; if the library lacks the function, CUDA_ERROR_NOT_FOUND.
    template <class... Arguments>
    int call(const char* name, Arguments... arguments) const
    {
        constexpr int notFound = 500;
        auto* const function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(m_handle, name));
        return function == nullptr ? notFound : function(arguments...);
    }

private:
    void* m_handle;
};

Gpu describe(const Library& cuda, int device)
{
    Gpu gpu;
    std::array<char, 256> name{};
    std::size_t memory = 0;
    if (cuda.call("cuDeviceGetName", name.data(), static_cast<int>(name.size() - 1), device) == ok)
        gpu.name = name.data();
    if (cuda.call("cuDeviceTotalMem_v2", &memory, device) == ok) gpu.memory = static_cast<std::int64_t>(memory);
    cuda.call("cuDeviceGetAttribute", &gpu.major, attributeMajor, device);
    cuda.call("cuDeviceGetAttribute", &gpu.minor, attributeMinor, device);
    return gpu;
}

std::vector<Gpu> listAll(const Library& cuda)
{
    int count = 0;
    if (cuda.call("cuDeviceGetCount", &count) != ok) return {};
    std::vector<Gpu> gpus;
    for (int i = 0; i < count; ++i) {
        int device = 0;
        gpus.push_back(cuda.call("cuDeviceGet", &device, i) == ok ? describe(cuda, device) : Gpu{});
    }
    return gpus;
}

std::string errorText(const Library& cuda, int result)
{
    const char* text = nullptr;
    if (cuda.call("cuGetErrorString", result, &text) != ok || text == nullptr) return "error " + std::to_string(result);
    return std::string(text) + " (error " + std::to_string(result) + ")";
}

void askLibrary(const Library& cuda, Driver& driver)
{
    cuda.call("cuDriverGetVersion", &driver.cudaVersion);
    driver.initResult = cuda.call("cuInit", 0U);
    if (driver.initResult == ok) driver.gpus = listAll(cuda);
    else driver.initText = errorText(cuda, driver.initResult);
}

}  // namespace

Driver readDriver(const Places& places)
{
    Driver driver;
    driver.hardware = countHardware(places);
    driver.loaded = readKernelModule(places, driver.version);
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    driver.hiding = visible != nullptr;
    driver.visibleDevices = visible != nullptr ? visible : "";
    const Library cuda(places.library);
    driver.library = cuda.loaded();
    if (driver.library) askLibrary(cuda, driver);
    return driver;
}

bool reaches(int from, int to, const Places& places)
{
    const Library cuda(places.library);
    int first = 0, second = 0, can = 0;
    return cuda.loaded() && cuda.call("cuInit", 0U) == ok && cuda.call("cuDeviceGet", &first, from) == ok &&
           cuda.call("cuDeviceGet", &second, to) == ok &&
           cuda.call("cuDeviceCanAccessPeer", &can, first, second) == ok && can != 0;
}

std::string cudaText(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

std::string driverText(const Driver& driver)
{
    if (driver.cudaVersion == 0) return driver.version;
    return (driver.version.empty() ? "" : driver.version + ", ") + "CUDA " + cudaText(driver.cudaVersion);
}

}  // namespace hopscope::gpu

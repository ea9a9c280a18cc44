#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gpu/driver.h"
#include "support/temporary_folder.h"

using namespace hopscope;
namespace fs = std::filesystem;

namespace {

// Made-up /proc, /sys and /dev, and what the stand-in driver is told; all of it goes again.
class Machine {
public:
    Machine()
    {
        for (const char* name : {"proc", "sys", "dev"}) fs::create_directories(m_root / name);
        forget();
    }
    ~Machine() { forget(); }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    void write(const std::string& path, const std::string& text) const
    {
        fs::create_directories((m_root / path).parent_path());
        std::ofstream(m_root / path) << text << "\n";
    }

    void onBus(const std::string& address, const std::string& vendor, const std::string& kind) const
    {
        write("sys/bus/pci/devices/" + address + "/vendor", vendor);
        write("sys/bus/pci/devices/" + address + "/class", kind);
    }

    [[nodiscard]] gpu::Driver read(const std::string& library = STAND_IN_DRIVER) const
    {
        return gpu::readDriver({library, m_root / "proc", m_root / "sys", m_root / "dev"});
    }

private:
    static void forget()
    {
        for (const char* name : {"STAND_IN_GPUS", "STAND_IN_CUDA", "STAND_IN_INIT", "CUDA_VISIBLE_DEVICES"})
            unsetenv(name);
    }

    test::TemporaryFolder m_folder;
    fs::path m_root = m_folder.path;
};

}  // namespace

TEST_CASE("the driver's library lists names, memory and compute capabilities in its own order")
{
    const Machine machine;
    setenv("STAND_IN_GPUS", "NVIDIA H100 80GB HBM3;85899345920;9;0|Tesla T4;16106127360;7;5", 1);
    const gpu::Driver driver = machine.read();
    REQUIRE(driver.library);
    CHECK(driver.initResult == 0);
    REQUIRE(driver.gpus.size() == 2);
    CHECK(driver.gpus[0].name == "NVIDIA H100 80GB HBM3");
    CHECK(driver.gpus[0].memory == 85899345920);
    CHECK(driver.gpus[0].major == 9);
    CHECK(driver.gpus[1].name == "Tesla T4");
    CHECK(driver.gpus[1].major == 7);
    CHECK(driver.gpus[1].minor == 5);
}

TEST_CASE("the driver's library says which GPUs reach each other's memory")
{
    const Machine machine;
    setenv("STAND_IN_GPUS", "A;1;9;0|B;1;9;0|A;1;9;0", 1);
    const gpu::Places places{.library = STAND_IN_DRIVER};
    CHECK(gpu::reaches(0, 2, places));
    CHECK(!gpu::reaches(0, 1, places));
    CHECK(!gpu::reaches(0, 2, {.library = "libcuda-that-is-not-there.so"}));
    setenv("STAND_IN_INIT", "100", 1);
    CHECK(!gpu::reaches(0, 2, places));
}

TEST_CASE("the driver's version comes from the kernel module's own line, be it the open or the closed one")
{
    const Machine machine;
    machine.write("proc/driver/nvidia/version",
                  "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (dvs-builder)");
    CHECK(machine.read().version == "580.65.06");
    CHECK(gpu::driverText(machine.read()) == "580.65.06, CUDA 13.0");
    machine.write("proc/driver/nvidia/version",
                  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54  Tue Jun  6 22:32:46 UTC 2023");
    setenv("STAND_IN_CUDA", "12020", 1);
    CHECK(gpu::driverText(machine.read()) == "535.54, CUDA 12.2");
    CHECK(machine.read().loaded);
    CHECK(gpu::driverText(machine.read("no such library")) == "535.54");
}

TEST_CASE("GPUs are counted on the bus, in the driver's files and among the device files, whichever shows most")
{
    const Machine machine;
    CHECK(machine.read().hardware == 0);
    machine.onBus("0000:00:02.0", "0x8086", "0x030000");  // another maker's GPU
    machine.onBus("0000:01:00.1", "0x10de", "0x040300");  // a GPU's sound
    CHECK(machine.read().hardware == 0);
    machine.onBus("0000:01:00.0", "0x10de", "0x030000");
    CHECK(machine.read().hardware == 1);
    machine.write("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: x");
    machine.write("proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: x");
    CHECK(machine.read().hardware == 2);
    for (const char* name : {"nvidia0", "nvidia1", "nvidia11", "nvidiactl", "nvidia-uvm", "nvidia"})
        machine.write(std::string("dev/") + name, "");
    CHECK(machine.read().hardware == 3);
}

TEST_CASE("a library that fails to start says so in its own words, and by number where it has none")
{
    const Machine machine;
    setenv("STAND_IN_GPUS", "x;1;9;0", 1);
    setenv("STAND_IN_INIT", "803", 1);
    CHECK(machine.read().initText == "system has unsupported driver combination (error 803)");
    CHECK(machine.read().gpus.empty());
    setenv("STAND_IN_INIT", "77", 1);
    CHECK(machine.read().initText == "error 77");
}

TEST_CASE("a machine without the library and a file that is none leave nothing but what the kernel shows")
{
    const Machine machine;
    CHECK_FALSE(machine.read("no such library").library);
    machine.write("dev/nvidia0", "not a library");
    const gpu::Driver driver = machine.read("/proc/self/comm");
    CHECK_FALSE(driver.library);
    CHECK(driver.gpus.empty());
    CHECK(driver.hardware == 1);
}

TEST_CASE("a library that lacks the driver's functions is one that cannot start")
{
    const Machine machine;
    const gpu::Driver driver = machine.read("libm.so.6");
    REQUIRE(driver.library);
    CHECK(driver.initResult != 0);
    CHECK(driver.gpus.empty());
}

TEST_CASE("CUDA_VISIBLE_DEVICES is remembered, also when it is empty")
{
    const Machine machine;
    CHECK_FALSE(machine.read().hiding);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    CHECK(machine.read().hiding);
    CHECK(machine.read().visibleDevices.empty());
}

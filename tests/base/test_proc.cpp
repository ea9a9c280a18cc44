#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/proc.h"
#include "support/temporary_folder.h"

using namespace hopscope;

namespace {

void addDevice(const std::string& folder, const std::string& kind, const std::string& features)
{
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/device") << kind << "\n";
    std::ofstream(folder + "/features") << features << "\n";
}

}  // namespace

TEST_CASE("free memory is taken where a balloon reports it")
{
    const test::TemporaryFolder devices;
    CHECK(!base::freeMemoryIsTaken(devices.path + "/nothing"));
    CHECK(!base::freeMemoryIsTaken(devices.path));
    addDevice(devices.path + "/virtio0", "0x0001", "1111111111");
    addDevice(devices.path + "/virtio1", "0x0005", "0110");
    addDevice(devices.path + "/virtio2", "0x0005", "0110010110");
    CHECK(base::freeMemoryIsTaken(devices.path) == true);
    std::filesystem::remove_all(devices.path + "/virtio2");
    CHECK(!base::freeMemoryIsTaken(devices.path));
    addDevice(devices.path + "/virtio3", "0x0005", "0110100110");
    CHECK(!base::freeMemoryIsTaken(devices.path));
}

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/cgroup.h"

using namespace hopscope::base;

namespace {

// A folder like /sys/fs/cgroup, and what /proc/self/cgroup would say.
struct Groups {
    std::filesystem::path root = std::filesystem::temp_directory_path() /
                                 ("cgroup-test-" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    Groups() { std::filesystem::create_directories(root); }
    ~Groups() { std::filesystem::remove_all(root); }

    void write(const std::string& file, const std::string& text) const
    {
        std::filesystem::create_directories((root / file).parent_path());
        std::ofstream(root / file) << text;
    }
    [[nodiscard]] std::optional<std::int64_t> left() const
    {
        return cgroupMemory({.process = (root / "process").string(), .root = root.string()});
    }
};

}  // namespace

TEST_CASE("a group's memory is its limit less what is used, but for pages of files")
{
    const Groups groups;
    groups.write("process", "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n");
    groups.write("memory/a/b/memory.limit_in_bytes", "1000\n");
    groups.write("memory/a/b/memory.usage_in_bytes", "900\n");
    groups.write("memory/a/b/memory.stat", "inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 50\n");
    CHECK(groups.left() == 450);
    groups.write("memory/a/memory.limit_in_bytes", "500\n");
    groups.write("memory/a/memory.usage_in_bytes", "700\n");
    groups.write("memory/a/memory.stat", "total_inactive_file 600\n");
    CHECK(groups.left() == 400);  // the least of a group and those above it
}

TEST_CASE("a group of version 1 without a limit has the largest number of whole pages as one")
{
    const Groups groups;
    groups.write("process", "4:memory:/a\n");
    groups.write("memory/memory.limit_in_bytes", "9223372036854771712\n");
    groups.write("memory/memory.usage_in_bytes", "700\n");
    CHECK(!groups.left());
    groups.write("memory/a/memory.limit_in_bytes", "9223372036854710272\n");  // in pages of 64 KiB
    groups.write("memory/a/memory.usage_in_bytes", "600\n");
    CHECK(!groups.left());
    groups.write("memory/a/memory.limit_in_bytes", "1000\n");
    CHECK(groups.left() == 400);
}

TEST_CASE("groups of version 2 may have no limit, and lie at the root of a container")
{
    const Groups groups;
    groups.write("process", "0::/pod/container\n");
    CHECK(!groups.left());
    groups.write("memory.max", "max\n");
    groups.write("memory.current", "10\n");
    CHECK(!groups.left());
    groups.write("memory.max", "100\n");
    groups.write("memory.stat", "anon 4\ninactive_file 3\nactive_file 2\n");
    CHECK(groups.left() == 95);
    groups.write("pod/container/memory.max", "20\n");
    groups.write("pod/container/memory.current", "30\n");
    CHECK(groups.left() == 0);  // never less
}

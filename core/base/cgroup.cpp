#include "base/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

namespace hopscope::base {

namespace {

namespace fs = std::filesystem;

// The file names of one version of control groups.
struct Names {
    const char *limit, *usage, *prefix;
};
constexpr Names first{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() - (1 << 16);  // whole pages, in version 1
constexpr Names second{"memory.max", "memory.current", ""};

// "max" is none.
std::optional<std::int64_t> numberIn(const fs::path& file)
{
    std::ifstream in(file);
    std::int64_t number = 0;
    return in >> number ? std::optional(number) : std::nullopt;
}

// Pages of files that are on no list of pinned ones.
std::int64_t filePages(const fs::path& file, const std::string& prefix)
{
    std::ifstream in(file);
    std::int64_t sum = 0, number = 0;
    for (std::string key; in >> key >> number;)
        if (key == prefix + "inactive_file" || key == prefix + "active_file") sum += number;
    return sum;
}

// Files of groups without a limit are not read: the kernel sums up the statistics of all groups below for each reader.
std::optional<std::int64_t> leftIn(const fs::path& group, const Names& names)
{
    const auto limit = numberIn(group / names.limit);
    if (!limit || *limit >= unlimited) return std::nullopt;
    const auto usage = numberIn(group / names.usage);
    if (!usage) return std::nullopt;
    return std::max<std::int64_t>(*limit - *usage + filePages(group / "memory.stat", names.prefix), 0);
}

// The least of a group and those above it. In a container its own group may lie at the root.
std::optional<std::int64_t> leftUpTo(const fs::path& root, const std::string& group, const Names& names)
{
    std::optional<std::int64_t> least;
    const auto include = [&](const fs::path& folder) {
        if (const auto left = leftIn(folder, names)) least = std::min(least.value_or(*left), *left);
    };
    for (fs::path at = fs::path(group).relative_path(); !at.empty(); at = at.parent_path()) include(root / at);
    include(root);
    return least;
}

// The group in "12:memory:/a/b" or "0::/a/b"; nullopt: the line is that of another controller.
std::optional<std::string> groupIn(const std::string& line, const std::string& controllers)
{
    const std::size_t begin = line.find(':') + 1, end = line.find(':', begin);
    if (begin == 0 || end == std::string::npos) return std::nullopt;
    const std::string listed = "," + line.substr(begin, end - begin) + ",";
    if (listed.find("," + controllers + ",") == std::string::npos) return std::nullopt;
    return line.substr(end + 1);
}

}  // namespace

std::optional<std::int64_t> cgroupMemory(const CgroupFiles& files)
{
    std::ifstream in(files.process);
    std::optional<std::int64_t> least;
    for (std::string line; std::getline(in, line);) {
        std::optional<std::int64_t> left;
        if (const auto group = groupIn(line, "memory")) left = leftUpTo(files.root + "/memory", *group, first);
        else if (const auto unified = groupIn(line, "")) left = leftUpTo(files.root, *unified, second);
        if (left) least = std::min(least.value_or(*left), *left);
    }
    return least;
}

}  // namespace hopscope::base

// fs/list: lists folders on the engine's machine.

#include <algorithm>
#include <filesystem>

#include "server/documents.h"

namespace hopscope::engine {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t mostEntries = 10'000;

struct Entry {
    std::string name;
    bool directory = false;
    std::int64_t size = 0;
};

Entry entryOf(const fs::directory_entry& found)
{
    std::error_code problem;
    Entry entry{.name = found.path().filename().string(), .directory = found.is_directory(problem), .size = 0};
    if (found.is_regular_file(problem)) entry.size = static_cast<std::int64_t>(found.file_size(problem));
    return entry;
}

json::Value toValue(const Entry& entry)
{
    json::Value item;
    item["name"] = entry.name;
    item["directory"] = entry.directory;
    item["size"] = entry.size;
    return item;
}

}  // namespace

Outcome listFolder(const json::Reader& params)
{
    const auto wanted = params.get<std::string>("path");
    if (!params.ok()) return invalid(params);
    std::error_code problem;
    const fs::path path = fs::absolute(wanted.empty() ? "." : wanted, problem).lexically_normal();
    std::vector<Entry> entries;
    for (fs::directory_iterator it(path, problem), end; !problem && it != end; it.increment(problem))
        if (entries.size() < mostEntries) entries.push_back(entryOf(*it));
    if (problem)
        return failed({.code = base::ErrorCode::Input,
                       .message = path.string() + ": " + problem.message(),
                       .hint = {},
                       .where = path.string()});
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
        return std::pair(!a.directory, a.name) < std::pair(!b.directory, b.name);
    });
    json::Value result;
    result["path"] = path.string();
    result["parent"] = path.parent_path().string();
    result["entries"] = json::Value::array();
    for (const Entry& entry : entries) result["entries"].push(toValue(entry));
    return result;
}

}  // namespace hopscope::engine

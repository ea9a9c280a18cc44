// fs/list: lists folders on the engine's machine.

#include <algorithm>
#include <filesystem>

#include "server/machine.h"

namespace hopscope::engine {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t mostEntries = 10'000;

protocol::FolderEntry entryOf(const fs::directory_entry& found)
{
    std::error_code problem;
    protocol::FolderEntry entry{.name = found.path().filename().string(), .directory = found.is_directory(problem)};
    if (found.is_regular_file(problem)) entry.size = static_cast<std::int64_t>(found.file_size(problem));
    return entry;
}

}  // namespace

Outcome listFolder(const protocol::ListFolder& query)
{
    std::error_code problem;
    const fs::path path = fs::absolute(query.path.empty() ? "." : query.path, problem).lexically_normal();
    std::vector<protocol::FolderEntry> entries;
    for (fs::directory_iterator it(path, problem), end; !problem && it != end; it.increment(problem))
        if (entries.size() < mostEntries) entries.push_back(entryOf(*it));
    if (problem)
        return failed({.code = base::ErrorCode::Input,
                       .message = path.string() + ": " + problem.message(),
                       .hint = {},
                       .where = path.string()});
    std::ranges::sort(entries, [](const protocol::FolderEntry& a, const protocol::FolderEntry& b) {
        return std::pair(!a.directory, a.name) < std::pair(!b.directory, b.name);
    });
    return protocol::answerValue(protocol::FolderListing{
        .path = path.string(), .parent = path.parent_path().string(), .entries = std::move(entries)});
}

}  // namespace hopscope::engine

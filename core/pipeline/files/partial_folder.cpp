#include "pipeline/files/partial_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/folder.h"

namespace hopscope::pipeline {

namespace fs = std::filesystem;

namespace {

tl::unexpected<base::Error> unpublished(const std::string& path, const std::string& what, const std::string& hint)
{
    return base::fail(base::ErrorCode::Input, path + ": " + what, hint, path);
}

}  // namespace

base::Result<PartialFolder> PartialFolder::make(const std::string& wanted)
{
    const fs::path target = fs::absolute(wanted).lexically_normal();
    const fs::path path = target.has_filename() ? target : target.parent_path();
    std::error_code problem;
    if (fs::exists(fs::symlink_status(path, problem)))
        return unpublished(path.string(), "exists already", "remove it, or choose another folder");
    const fs::path partial = path.parent_path() / ("." + path.filename().string() + "-" + std::to_string(getpid()));
    PartialFolder folder(path.string(), partial.string());
    fs::create_directories(path.parent_path(), problem);
    if (!fs::create_directory(partial, problem)) {
        folder.m_partial.clear();
        return unpublished(path.string(), "cannot be created: " + problem.message(), "choose another folder");
    }
    return folder;
}

PartialFolder::PartialFolder(PartialFolder&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_partial(std::exchange(other.m_partial, {}))
{}

void PartialFolder::abandon()
{
    if (!m_partial.empty()) base::removeFolder(std::exchange(m_partial, {}));
}

base::Status PartialFolder::publish()
{
    if (std::rename(m_partial.c_str(), m_path.c_str()) != 0)
        return unpublished(m_path, std::string("cannot be created: ") + std::strerror(errno),
                           "has something else with this name appeared in the meantime?");
    m_partial.clear();
    return {};
}

}  // namespace hopscope::pipeline

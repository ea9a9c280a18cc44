#include "pipeline/files/text_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/folder.h"

namespace hopscope::pipeline {

namespace {

constexpr std::int64_t largestText = std::int64_t{64} << 20;

// Why something is no regular file; `problem`: of the search for it.
std::string whyNotRegular(std::filesystem::file_type type, const std::error_code& problem)
{
    switch (type) {
    case std::filesystem::file_type::not_found: return "no such file";
    case std::filesystem::file_type::directory: return "is a folder, not a file";
    case std::filesystem::file_type::none: return "cannot be read: " + problem.message();
    default: return "is not a regular file";
    }
}

}  // namespace

base::Result<std::string> readText(const std::string& path)
{
    std::error_code problem;
    const std::filesystem::file_type type = std::filesystem::status(path, problem).type();
    if (type != std::filesystem::file_type::regular)
        return base::fail(base::ErrorCode::Input, path + ": " + whyNotRegular(type, problem));
    if (static_cast<std::int64_t>(std::filesystem::file_size(path, problem)) > largestText)
        return base::fail(base::ErrorCode::Input, path + ": too large for a document", "the limit is 64 MiB");
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file.good() && !file.eof()) return base::fail(base::ErrorCode::Input, path + ": cannot be read");
    return text;
}

base::Status writeTextFile(const std::string& text, const std::string& path)
{
    std::string temporary;
    const int handle = base::openTemporary(path, temporary);
    std::FILE* const file = handle >= 0 ? fdopen(handle, "wb") : nullptr;
    bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = written && std::fflush(file) == 0 && fsync(fileno(file)) == 0;
    if (file != nullptr) written = (std::fclose(file) == 0) && written;
    if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
    const std::string problem = std::strerror(errno);
    if (handle >= 0) unlink(temporary.c_str());
    return base::fail(file == nullptr ? base::ErrorCode::Input : base::ErrorCode::Resources,
                      path + ": cannot be written: " + problem, "choose another folder or free some space");
}

std::string usersFile(const char* variable, const std::string& below, const std::string& name)
{
    const char* const named = std::getenv(variable);
    if (named != nullptr && *named != 0) return std::string(named) + "/hopscope/" + name;
    const char* const home = std::getenv("HOME");
    return home != nullptr && *home != 0 ? home + below + "/hopscope/" + name : "";
}

}  // namespace hopscope::pipeline

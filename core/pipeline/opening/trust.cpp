#include "pipeline/opening/trust.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>

#include "base/sha256.h"
#include "base/text.h"
#include "graph/file.h"
#include "loader/archive/archive.h"
#include "pipeline/files/text_file.h"
#include "pipeline/opening/sample_hashes.h"

namespace hopscope::pipeline {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t hashLength = 64;
constexpr std::string_view between = "  ";

// The path without links and "..", as far as it exists.
std::string plainPath(const std::string& path)
{
    std::error_code unknown;
    const fs::path plain = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
    return (plain.has_filename() ? plain : plain.parent_path()).string();
}

// A path as one word of a shell's command line.
std::string shellWord(const std::string& path)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-@:,=%";
    if (!path.starts_with('-') && path.find_first_not_of(plain) == std::string::npos) return path;
    const bool control = path != base::oneLine(path, path.size());
    std::string word = path.starts_with('-') ? "./" : "";
    for (const char c : path) {
        std::array<char, 5> code{};
        std::snprintf(code.data(), code.size(), "\\x%02x", static_cast<unsigned char>(c));
        const bool coded = control && plain.find(c) == std::string_view::npos;
        word += coded ? code.data() : c == '\'' ? "'\\''" : std::string(1, c);
    }
    return (control ? "$'" : "'") + word + "'";
}

bool isHash(std::string_view text)
{
    return text.size() == hashLength && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void addLine(TrustList& list, const std::string& line)
{
    const std::string hash = line.substr(0, hashLength);
    if (line.starts_with('/')) list.folders.push_back(line);
    else if (isHash(hash) && line.substr(hash.size(), between.size()) == between)
        list.files.push_back({hash, line.substr(hashLength + between.size())});
}

base::Result<std::vector<std::string>> readLines()
{
    std::vector<std::string> lines;
    std::error_code unknown;
    if (!fs::exists(trustFile(), unknown)) return lines;
    const base::Result<std::string> text = readText(trustFile());
    if (!text) return base::forward(text);
    std::istringstream stream(*text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

base::Status writeLines(const std::vector<std::string>& lines)
{
    if (trustFile().empty())
        return base::fail(base::ErrorCode::Resources, "there is no folder for the list of trusted files",
                          "set XDG_CONFIG_HOME or HOME");
    std::error_code ignored;
    fs::create_directories(fs::path(trustFile()).parent_path(), ignored);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return writeTextFile(text, trustFile());
}

bool isBelow(const std::string& path, const std::string& folder)
{
    const std::string stem = folder == "/" ? folder : folder + "/";
    return path == folder || path.starts_with(stem);
}

std::vector<std::string> foldersOfEnvironment()
{
    const char* const named = std::getenv("HOPSCOPE_TRUST");
    std::vector<std::string> folders;
    std::istringstream stream(named != nullptr ? named : "");
    for (std::string folder; std::getline(stream, folder, ':');)
        if (!folder.empty()) folders.push_back(plainPath(folder));
    return folders;
}

base::Result<std::string> hashOf(const std::string& path)
{
    const base::Result<graph::MappedFile> file = graph::mapFile(path);
    if (!file) return base::forward(file);
    return base::sha256(std::span(file->data, static_cast<std::size_t>(file->size)));
}

// The line for a file or folder.
base::Result<std::string> lineFor(const std::string& path)
{
    const std::string plain = plainPath(path);
    std::error_code unknown;
    if (!fs::is_directory(plain, unknown)) {
        const base::Result<std::string> hash = hashOf(path);
        if (!hash) return base::forward(hash);
        return lineOf({*hash, base::oneLine(plain, plain.size())});
    }
    if (plain.find('\n') != std::string::npos)
        return base::fail(base::ErrorCode::Input,
                          path + ": the list cannot hold a folder with a line break in its name",
                          "give the folder another name");
    return plain;
}

}  // namespace

std::string trustFile() { return usersFile("XDG_CONFIG_HOME", "/.config", "trusted"); }

std::string lineOf(const TrustedFile& file) { return file.sha256 + std::string(between) + file.path; }

base::Result<TrustList> trusted()
{
    const base::Result<std::vector<std::string>> lines = readLines();
    if (!lines) return base::forward(lines);
    TrustList list;
    for (const std::string& line : *lines) addLine(list, line);
    return list;
}

bool trustedByPlace(const std::string& path)
{
    std::vector<std::string> folders = foldersOfEnvironment();
    if (const base::Result<TrustList> list = trusted())
        folders.insert(folders.end(), list->folders.begin(), list->folders.end());
    const std::string plain = folders.empty() ? "" : plainPath(path);
    return std::ranges::any_of(folders, [&](const std::string& folder) { return isBelow(plain, folder); });
}

base::Status trustedByContent(const std::string& path, const std::string& sha256)
{
    const base::Result<TrustList> list = trusted();
    if (!list) return base::forward(list);
    const bool known = std::ranges::find(list->files, sha256, &TrustedFile::sha256) != list->files.end();
    if (known || std::ranges::find(sampleHashes, sha256) != std::end(sampleHashes)) return {};
    return base::fail(base::ErrorCode::Untrusted, path + " holds code that you have not agreed to run",
                      "agree to this file, once, with hopscope-engine trust " + shellWord(path) +
                          " (in Python: hopscope.trust); or name trusted folders in HOPSCOPE_TRUST");
}

base::Status mayRun(const std::string& path)
{
    if (trustedByPlace(path) || loader::isExported(path)) return {};
    const base::Result<std::string> hash = hashOf(path);
    return hash ? trustedByContent(path, *hash) : base::Status(base::forward(hash));
}

base::Status trust(const std::string& path)
{
    const base::Result<std::string> line = lineFor(path);
    if (!line) return base::forward(line);
    base::Result<std::vector<std::string>> lines = readLines();
    if (!lines) return base::forward(lines);
    if (std::ranges::find(*lines, *line) != lines->end()) return {};
    lines->push_back(*line);
    return writeLines(*lines);
}

base::Status distrust(const std::string& path)
{
    base::Result<std::vector<std::string>> lines = readLines();
    if (!lines) return base::forward(lines);
    const std::string plain = plainPath(path);
    const std::string hash = hashOf(path).value_or("");
    const std::size_t gone = std::erase_if(*lines, [&](const std::string& line) {
        TrustList one;
        addLine(one, line);
        if (!one.folders.empty()) return one.folders.front() == plain;
        return !one.files.empty() &&
               (one.files.front().path == base::oneLine(plain, plain.size()) || one.files.front().sha256 == hash);
    });
    if (gone == 0) return base::fail(base::ErrorCode::Input, path + " is not on the list of trusted files and folders");
    return writeLines(*lines);
}

}  // namespace hopscope::pipeline

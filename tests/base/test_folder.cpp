#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/failures.h"
#include "base/folder.h"
#include "support/temporary_folder.h"

using namespace hopscope;
namespace fs = std::filesystem;

namespace {

// A folder "in" with one of each kind, beside one with what must stay.
struct Prepared {
    test::TemporaryFolder holder;
    fs::path in = fs::path(holder.path) / "in", victim = fs::path(holder.path) / "victim";

    Prepared()
    {
        fs::create_directories(in / "sub/deep");
        fs::create_directories(victim);
        for (const fs::path& file : {in / "file", in / "sub/file", victim / "file"}) std::ofstream(file) << "precious";
        fs::create_symlink(victim / "file", in / "link");
        fs::create_symlink(victim, in / "sub/linked");
        fs::create_symlink("nowhere", in / "dangling");
        fs::create_hard_link(victim / "file", in / "second");
        mkfifo((in / "pipe").c_str(), 0600);
    }
    [[nodiscard]] base::Folder folder() const { return std::move(*base::Folder::open(in.string())); }
    [[nodiscard]] bool untouched() const { return fs::file_size(victim / "file") == 8; }
};

std::string opened(const base::Folder& folder, const std::string& name, int flags)
{
    const base::Result<int> file = folder.openFile(name, flags);
    if (!file) return base::nameOf(file.error().code);
    close(*file);
    return "opened";
}

}  // namespace

TEST_CASE("names below a folder lead to files of its own and nowhere else")
{
    const Prepared prepared;
    const base::Folder folder = prepared.folder();
    for (const char* name : {"file", "sub/file"})
        for (const int flags : {O_RDONLY, O_RDWR | O_CREAT}) CHECK(opened(folder, name, flags) == "opened");
    for (const char* name : {"link", "dangling", "sub/linked/file", "../victim/file", "sub/../file", "/etc/passwd", "",
                             ".", "..", "sub", "sub/", "file/below", "pipe"})
        for (const int flags : {O_RDONLY, O_RDWR | O_CREAT, O_WRONLY | O_CREAT | O_APPEND}) {
            CAPTURE(name);
            CHECK(opened(folder, name, flags) == "input");
        }
    CHECK(opened(folder, "second", O_RDONLY) == "opened");
    CHECK(opened(folder, "second", O_RDWR) == "input");
    CHECK(opened(folder, "missing", O_RDONLY) == "resources");
    CHECK(folder.openFile("missing", O_RDONLY).error().hint == "was it, or its folder, removed in the meantime?");
    CHECK_FALSE(fs::exists(prepared.in / "nowhere"));
    CHECK(prepared.untouched());
}

TEST_CASE("removing takes what links lead to for somebody else's")
{
    const Prepared prepared;
    const base::Folder folder = prepared.folder();
    folder.remove("sub/linked/file");
    folder.remove("../victim/file");
    CHECK(prepared.untouched());
    for (const std::string& name : folder.names()) folder.remove(name);
    CHECK(folder.names().empty());
    CHECK(prepared.untouched());
}

TEST_CASE("a link in the place of a folder to be removed remains, with its target")
{
    const Prepared prepared;
    const fs::path link = fs::path(prepared.holder.path) / "instead";
    fs::create_directory_symlink(prepared.victim, link);
    base::removeFolder(link.string());
    CHECK(fs::is_symlink(link));
    REQUIRE(fs::exists(prepared.victim / "file"));
    base::removeFolder(prepared.in.string());
    CHECK_FALSE(fs::exists(prepared.in));
    CHECK(prepared.untouched());
}

TEST_CASE("renaming stays in the folder")
{
    const Prepared prepared;
    const base::Folder folder = prepared.folder();
    CHECK_FALSE(folder.rename("file", "../victim/file"));
    CHECK_FALSE(folder.rename("file", "sub/linked/file"));
    CHECK_FALSE(folder.rename("../victim/file", "stolen"));
    CHECK_FALSE(folder.rename("link", "stolen"));
    CHECK_FALSE(folder.rename("file", "sub"));
    CHECK(folder.rename("sub/file", "link"));
    CHECK(prepared.untouched());
    CHECK(fs::is_regular_file(fs::symlink_status(prepared.in / "link")));
}

TEST_CASE("a folder says whether it has files of others")
{
    const Prepared prepared;
    const base::Folder folder = prepared.folder();
    CHECK_FALSE(folder.onlyOwnFiles());
    for (const char* name : {"link", "dangling", "second", "pipe"}) folder.remove(name);
    const base::Status below = folder.onlyOwnFiles();
    REQUIRE_FALSE(below);
    CHECK(below.error().message.find("in/sub/linked: is not used, because it,") != std::string::npos);
    folder.remove("sub/linked");
    CHECK(folder.onlyOwnFiles());
}

TEST_CASE("a temporary file is a new one")
{
    const Prepared prepared;
    const std::string path = (prepared.in / "text").string();
    const fs::path first = path + ".partial." + std::to_string(gettid());
    fs::create_symlink(prepared.victim / "file", first);
    std::string temporary;
    const int file = base::openTemporary(path, temporary);
    REQUIRE(file >= 0);
    CHECK(write(file, "evil", 4) == 4);
    close(file);
    CHECK(temporary != first.string());
    CHECK(fs::is_regular_file(fs::symlink_status(temporary)));
    CHECK(prepared.untouched());
}

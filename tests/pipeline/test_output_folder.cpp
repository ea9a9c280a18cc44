#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>

#include "pipeline/files/folder_lock.h"
#include "pipeline/files/output_folder.h"
#include "support/temporary_folder.h"

using namespace hopscope;
namespace fs = std::filesystem;

namespace {

struct Temporary {
    test::TemporaryFolder folder;
    fs::path path = folder.path;
};

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

std::string read(const fs::path& file)
{
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a folder that was made for a run vanishes if nothing is published")
{
    const Temporary temporary;
    {
        const auto folder = pipeline::OutputFolder::open((temporary.path / "a/b/c").string());
        REQUIRE_MESSAGE(folder, base::describe(folder.error()));
        write(folder->journal() + "/v5.npy", "rows");
        CHECK(fs::exists(temporary.path / "a/b/c/.hopscope-journal/v5.npy"));
    }
    CHECK(fs::is_empty(temporary.path));
}

TEST_CASE("a folder that was there keeps what is in it, and nothing else stays")
{
    const Temporary temporary;
    write(temporary.path / "mine.txt", "mine");
    {
        const auto folder = pipeline::OutputFolder::open(temporary.path.string());
        REQUIRE(folder);
        write(folder->journal() + "/v5.npy", "rows");
    }
    CHECK(read(temporary.path / "mine.txt") == "mine");
    CHECK_FALSE(fs::exists(temporary.path / ".hopscope-journal"));
}

TEST_CASE("publishing renames the results over older ones and removes the journal")
{
    const Temporary temporary;
    write(temporary.path / "out.npy", "old");
    {
        auto folder = pipeline::OutputFolder::open(temporary.path.string());
        REQUIRE(folder);
        write(folder->journal() + "/tmp1", "new");
        folder->add(folder->journal() + "/tmp1", "out.npy");
        CHECK(read(temporary.path / "out.npy") == "old");
        REQUIRE(folder->publish());
    }
    CHECK(read(temporary.path / "out.npy") == "new");
    CHECK_FALSE(fs::exists(temporary.path / ".hopscope-journal"));
}

TEST_CASE("a file in the way is refused as input")
{
    const Temporary temporary;
    write(temporary.path / "file", "text");
    for (const char* path : {"file", "file/below"}) {
        const auto folder = pipeline::OutputFolder::open((temporary.path / path).string());
        REQUIRE_FALSE(folder);
        CHECK(folder.error().code == base::ErrorCode::Input);
    }
    CHECK(read(temporary.path / "file") == "text");
}

TEST_CASE("a second run in one folder is told who holds it")
{
    const Temporary temporary;
    const auto first = pipeline::OutputFolder::open(temporary.path.string());
    REQUIRE(first);
    const auto second = pipeline::OutputFolder::open(temporary.path.string());
    REQUIRE_FALSE(second);
    CHECK(second.error().code == base::ErrorCode::Input);
    CHECK(second.error().message.find("locked by pid " + std::to_string(getpid()) + " on ") != std::string::npos);
    CHECK(fs::exists(temporary.path / ".hopscope-journal/lock"));
}

TEST_CASE("the lock of a process that died is taken over and its leavings are removed")
{
    const Temporary temporary;
    const pid_t child = fork();
    if (child == 0) {
        const auto folder = pipeline::OutputFolder::open(temporary.path.string());
        if (folder) write(folder->journal() + "/v5.npy", "half");
        _exit(0);  // as if killed: no destructor runs
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(fs::exists(temporary.path / ".hopscope-journal/v5.npy"));
    const auto folder = pipeline::OutputFolder::open(temporary.path.string());
    REQUIRE_MESSAGE(folder, base::describe(folder.error()));
    CHECK_FALSE(fs::exists(temporary.path / ".hopscope-journal/v5.npy"));
}

TEST_CASE("a lock is waited for that a process holds which a killed run had started, until it ends as well")
{
    const Temporary temporary;
    int heldUntilClosed[2];
    REQUIRE(pipe(heldUntilClosed) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto folder = pipeline::OutputFolder::open(temporary.path.string());
        if (fork() == 0) usleep(200'000);
        _exit(0);
    }
    close(heldUntilClosed[1]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    const auto folder = pipeline::OutputFolder::open(temporary.path.string());
    CHECK_MESSAGE(folder, base::describe(folder.error()));
    char none = 0;
    CHECK(::read(heldUntilClosed[0], &none, 1) == 0);  // the other process has ended
    close(heldUntilClosed[0]);
}

namespace {

// "" where it opens; the lock says that a process on another machine has it, which was last known to be alive `age`
// seconds ago.
std::string refusalAfter(const fs::path& folder, int age)
{
    fs::create_directories(folder / ".hopscope-journal");
    const fs::path lock = folder / ".hopscope-journal/lock";
    write(lock, "pid 17 on some-other-host");
    fs::last_write_time(lock, fs::file_time_type::clock::now() - std::chrono::seconds(age));
    const auto opened = pipeline::OutputFolder::open(folder.string());
    return opened ? std::string() : base::describe(opened.error());
}

}  // namespace

TEST_CASE("a lock that nobody holds is taken over where the file system knows of every lock, whatever host it names")
{
    const Temporary temporary;
    CHECK(refusalAfter(temporary.path, 0).empty());
}

TEST_CASE(
    "where the file system may not know of locks, another machine keeps its lock as long as it shows that it lives")
{
    const Temporary temporary;
    pipeline::doubtLocks(true);
    const std::string fresh = refusalAfter(temporary.path, 20);
    CHECK_MESSAGE(fresh.find("locked by pid 17 on some-other-host, which was last known to be alive 2") !=
                      std::string::npos,
                  fresh);
    CHECK(fresh.find("takes over after 60 s") != std::string::npos);
    CHECK(refusalAfter(temporary.path, 61).empty());
    pipeline::doubtLocks(false);
}

TEST_CASE("a process that holds a folder shows that it lives")
{
    const Temporary temporary;
    auto folder = pipeline::OutputFolder::open(temporary.path.string());
    REQUIRE(folder);
    folder->showLife();
    const fs::path lock = temporary.path / ".hopscope-journal/lock";
    const auto longAgo = fs::file_time_type::clock::now() - std::chrono::hours(1);
    fs::last_write_time(lock, longAgo);
    for (int i = 0; i < 70 && fs::last_write_time(lock) == longAgo; ++i) usleep(100'000);
    CHECK(fs::last_write_time(lock) > longAgo);
}

TEST_CASE("a run that another process has taken over publishes nothing")
{
    const Temporary temporary;
    auto folder = pipeline::OutputFolder::open(temporary.path.string());
    REQUIRE(folder);
    write(folder->journal() + "/rows", "rows");
    write(temporary.path / ".hopscope-journal/lock", "pid 18 on some-other-host");
    folder->add(folder->journal() + "/rows", "out.npy");
    const base::Status published = folder->publish();
    REQUIRE_FALSE(published);
    CHECK(published.error().message.find("another process has taken over this run") != std::string::npos);
    CHECK_FALSE(fs::exists(temporary.path / "out.npy"));
}

TEST_CASE("names of outputs become safe file names")
{
    CHECK(pipeline::outputFileName("out") == "out");
    CHECK(pipeline::outputFileName("out.0") == "out.0");
    CHECK(pipeline::outputFileName("out.user/item") == "out.user%2Fitem");
    CHECK(pipeline::outputFileName("out.50%") == "out.50%25");
    CHECK(pipeline::outputFileName("out.\xC3\xA9 x") == "out.%C3%A9%20x");
}

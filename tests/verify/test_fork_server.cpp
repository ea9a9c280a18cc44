#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"
#include "verify/fork_server.h"

using namespace hopscope;
using verify::ForkedChild;

namespace {

constexpr std::chrono::milliseconds patience = std::chrono::minutes(1);

// What children do, by the name of it.
int act(const std::string& what, const std::vector<int>& handed)
{
    if (what == "write") return write(handed.at(1), "handed", 6) == 6 && handed.size() == 2 ? 0 : 1;
    if (what == "abort") std::abort();
    if (what == "throw") throw std::runtime_error("no idea");
    if (what == "hang") std::this_thread::sleep_for(std::chrono::minutes(10));
    if (what.starts_with("take ")) {
        const int mebibytes = std::atoi(what.c_str() + 5);
        const std::vector<char> taken(static_cast<std::size_t>(mebibytes) << 20, 'x');
        std::this_thread::sleep_for(std::chrono::seconds(mebibytes > 200 ? 600 : 1));  // it is looked at meanwhile
        return taken.back() == 'x' ? 0 : 1;
    }
    if (what == "read") return std::getchar() == EOF ? 5 : 6;
    std::printf("did %s\n", what.c_str());
    return std::atoi(what.c_str());
}

// Before the first test: there is one thread yet.
[[maybe_unused]] const bool begun = (verify::beginForkServer(act), true);

int statusOf(const std::string& what, const std::string& log)
{
    std::optional<ForkedChild> child = verify::forkChild(what, log);
    REQUIRE(child);
    const std::optional<verify::ChildEnd> end = child->ended(patience);
    REQUIRE(end);
    return end->status;
}

std::string textOf(const std::string& file)
{
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// Whether a process is gone, or only waits to be waited for, within half a minute.
bool ends(pid_t pid)
{
    for (int attempt = 0; attempt < 3000; ++attempt) {
        const std::string stat = textOf("/proc/" + std::to_string(pid) + "/stat");
        if (stat.empty() || stat[stat.rfind(')') + 2] == 'Z') return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

}  // namespace

TEST_CASE("a child ends with what its main function returns, and its words are in its log")
{
    const test::TemporaryFolder folder;
    const std::string log = folder.file("log");
    CHECK(WEXITSTATUS(statusOf("0", log)) == 0);
    CHECK(WEXITSTATUS(statusOf("42", log)) == 42);
    CHECK(textOf(log) == "did 42\n");
    CHECK(WEXITSTATUS(statusOf("throw", log)) == 1);
    CHECK(textOf(log) == "no idea\n");
    CHECK(WEXITSTATUS(statusOf("read", log)) == 5);
}

TEST_CASE("a child that crashes or is killed says by which signal")
{
    const test::TemporaryFolder folder;
    const int aborted = statusOf("abort", folder.file("log"));
    REQUIRE(WIFSIGNALED(aborted));
    CHECK(WTERMSIG(aborted) == SIGABRT);
    std::optional<ForkedChild> child = verify::forkChild("hang", folder.file("log"));
    REQUIRE(child);
    CHECK_FALSE(child->ended(std::chrono::milliseconds(0)));
    CHECK(getpgid(child->pid()) != getpgrp());
    kill(child->pid(), SIGKILL);
    const std::optional<verify::ChildEnd> killed = child->ended(patience);
    REQUIRE(killed);
    CHECK(WIFSIGNALED(killed->status));
    CHECK(WTERMSIG(killed->status) == SIGKILL);
    CHECK_FALSE(killed->overMemory);
    CHECK(ends(child->pid()));
}

TEST_CASE("a child is killed on request, and with the object that stands for it")
{
    std::optional<ForkedChild> child = verify::forkChild("hang", "/dev/null");
    REQUIRE(child);
    const verify::ChildEnd end = child->kill();
    CHECK(WIFSIGNALED(end.status));
    CHECK(ends(child->pid()));
    std::optional<ForkedChild> other = verify::forkChild("hang", "/dev/null");
    REQUIRE(other);
    const pid_t pid = other->pid();
    other.reset();
    CHECK(ends(pid));
}

TEST_CASE("a child above its memory limit is killed, another one says how much it took")
{
    constexpr std::int64_t limit = 200 << 20;
    std::optional<ForkedChild> greedy = verify::forkChild("take 400", "/dev/null", limit);
    REQUIRE(greedy);
    const std::optional<verify::ChildEnd> end = greedy->ended(patience);
    REQUIRE(end);
    CHECK(end->overMemory);
    CHECK(WIFSIGNALED(end->status));
    CHECK(end->peak > limit);
    std::optional<ForkedChild> modest = verify::forkChild("take 100", "/dev/null", limit);
    REQUIRE(modest);
    const std::optional<verify::ChildEnd> fine = modest->ended(patience);
    REQUIRE(fine);
    CHECK_FALSE(fine->overMemory);
    CHECK(WEXITSTATUS(fine->status) == 0);
    CHECK(fine->peak > 90 << 20);
    CHECK(fine->peak < limit);
}

TEST_CASE("a child has the descriptors that it is handed")
{
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    std::optional<ForkedChild> child = verify::forkChild("write", "/dev/null", 0, {STDIN_FILENO, ends[1]});
    close(ends[1]);
    REQUIRE(child);
    std::array<char, 8> text{};
    CHECK(read(ends[0], text.data(), text.size()) == 6);
    CHECK(std::string(text.data()) == "handed");
    CHECK(read(ends[0], text.data(), text.size()) == 0);  // nobody else has it
    close(ends[0]);
    const std::optional<verify::ChildEnd> end = child->ended(patience);
    REQUIRE(end);
    CHECK(end->status == 0);
    CHECK_FALSE(verify::forkChild("write", "/dev/null", 0, {0, 1, 2}));
}

TEST_CASE("threads have children at the same time, each its own")
{
    const test::TemporaryFolder folder;
    std::vector<std::thread> threads;
    std::array<int, 8> codes{};
    for (std::size_t number = 0; number < codes.size(); ++number)
        threads.emplace_back([&, number] {
            const std::string name = std::to_string(number + 10);
            std::optional<ForkedChild> child = verify::forkChild(name, folder.file(name));
            const std::optional<verify::ChildEnd> end = child ? child->ended(patience) : std::nullopt;
            if (end) codes[number] = WEXITSTATUS(end->status);
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t number = 0; number < codes.size(); ++number) {
        CHECK(codes[number] == static_cast<int>(number) + 10);
        CHECK(textOf(folder.file(std::to_string(number + 10))) == "did " + std::to_string(number + 10) + "\n");
    }
}

TEST_CASE("names that are too long for a request have no child")
{
    CHECK_FALSE(verify::forkChild(std::string(20'000, 'a'), "/dev/null"));
}

TEST_CASE("nothing is left of a program that is killed: no child, and nobody who keeps its output open")
{
    std::array<int, 2> output{};
    REQUIRE(pipe(output.data()) == 0);
    std::fflush(nullptr);
    const pid_t program = fork();
    if (program == 0) {
        close(output[0]);
        verify::beginForkServer(act);
        const std::optional<ForkedChild> child = verify::forkChild("hang", "/dev/null");
        const pid_t pid = child ? child->pid() : -1;
        (void)!write(output[1], &pid, sizeof pid);
        std::this_thread::sleep_for(std::chrono::minutes(10));
    }
    close(output[1]);
    pid_t child = -1;
    REQUIRE(read(output[0], &child, sizeof child) == sizeof child);
    REQUIRE(child > 0);
    CHECK(kill(child, 0) == 0);
    kill(program, SIGKILL);
    char more = 0;
    CHECK(read(output[0], &more, 1) == 0);  // the end of its output
    CHECK(waitpid(program, nullptr, 0) == program);
    CHECK(ends(child));
    close(output[0]);
}

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "solver/aside.h"

using namespace hopscope::solver;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto never = Clock::time_point::max();

class Does final : public Task {
public:
    explicit Does(std::function<void()> what) : m_what(std::move(what)) {}
    void run() override { m_what(); }

private:
    std::function<void()> m_what;
};

// Does not look whether it shall end, until it is released.
class Deaf final : public Task {
public:
    void run() override
    {
        std::unique_lock lock(m_mutex);
        m_begun = true;
        m_news.notify_all();
        m_news.wait(lock, [this] { return m_released; });
    }
    void begun()
    {
        std::unique_lock lock(m_mutex);
        m_news.wait(lock, [this] { return m_begun; });
    }
    void release()
    {
        const std::lock_guard lock(m_mutex);
        m_released = true;
        m_news.notify_all();
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_news;
    bool m_begun = false, m_released = false;
};

// Left behind while it runs.
std::shared_ptr<Deaf> deaf()
{
    auto task = std::make_shared<Deaf>();
    std::stop_source source;
    std::jthread stops([&] {
        task->begun();
        source.request_stop();
    });
    CHECK(!runAside(task, source.get_token(), never));
    CHECK(task->interrupted());
    return task;
}

#ifndef __SANITIZE_THREAD__
// The status of a child that exits with a task left behind.
int exitOfChild()
{
    const pid_t child = fork();
    if (child == 0) {
        deaf();
        std::exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}
#endif

}  // namespace

TEST_CASE("a task runs on another thread, and what it has written is there")
{
    for (int i = 0; i < 100; ++i) {
        int written = 0;
        std::thread::id thread;
        CHECK(runAside(std::make_shared<Does>([&] {
                           written = i;
                           thread = std::this_thread::get_id();
                       }),
                       {}, never));
        CHECK(written == i);
        CHECK(thread != std::this_thread::get_id());
    }
}

TEST_CASE("an exception of a task is one of the caller")
{
    CHECK_THROWS_WITH(runAside(std::make_shared<Does>([] { throw std::runtime_error("no"); }), {}, never), "no");
}

TEST_CASE("a task that does not end is left behind, at a stop and at the end of the time")
{
    const auto began = Clock::now();
    deaf()->release();
    const auto task = std::make_shared<Deaf>();
    CHECK(!runAside(task, {}, began + 1ms));
    task->release();
    CHECK(Clock::now() - began < 30s);
}

TEST_CASE("a task waits where three were left behind, until its own time is over or one of them ends")
{
    std::vector<std::shared_ptr<Deaf>> left;
    while (left.size() < 3) left.push_back(deaf());
    bool ran = false;
    const auto runs = std::make_shared<Does>([&] { ran = true; });
    CHECK(!runAside(runs, {}, Clock::now() + 20ms));
    CHECK(!ran);
    std::stop_source stopped;
    stopped.request_stop();
    CHECK(!runAside(runs, stopped.get_token(), never));
    left.back()->release();
    CHECK(runAside(runs, {}, never));
    CHECK(ran);
    for (const auto& task : left) task->release();
}

// ThreadSanitizer starts no threads in the fork of a process that has some.
#ifndef __SANITIZE_THREAD__
TEST_CASE("a process exits with its status while a task that was left behind still runs")
{
    const auto began = Clock::now();
    const int status = exitOfChild();
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(Clock::now() - began < 30s);
}
#endif

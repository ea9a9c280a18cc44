#include "base/ending.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <utility>

namespace hopscope::base {

namespace {

using namespace std::chrono_literals;

constexpr auto grace = 700ms;
constexpr auto look = 20ms;

std::mutex g_mutex;  // nothing begins or ends while the process does
int g_uninterruptible = 0;
std::list<std::function<void()>> g_before;

void endIfUninterruptible(int code)
{
    const std::lock_guard lock(g_mutex);
    if (g_uninterruptible == 0) return;
    for (const auto& work : g_before) work();
    _exit(code);
}

void watch(const std::stop_token& calledOff, int code)
{
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    const auto pause = [&](std::chrono::milliseconds time) {
        never.wait_for(lock, calledOff, time, [] { return false; });
        return !calledOff.stop_requested();
    };
    for (auto time = grace; pause(time); time = look) endIfUninterruptible(code);
}

}  // namespace

Uninterruptible::Uninterruptible()
{
    const std::lock_guard lock(g_mutex);
    ++g_uninterruptible;
}

Uninterruptible::~Uninterruptible()
{
    const std::lock_guard lock(g_mutex);
    --g_uninterruptible;
}

BeforeEnding::BeforeEnding(std::function<void()> work)
{
    const std::lock_guard lock(g_mutex);
    m_place = g_before.insert(g_before.end(), std::move(work));
}

BeforeEnding::~BeforeEnding()
{
    const std::lock_guard lock(g_mutex);
    g_before.erase(m_place);
}

void Ending::begin(int code)
{
    std::call_once(m_begun, [&] { m_watch = std::jthread(watch, code); });
}

}  // namespace hopscope::base

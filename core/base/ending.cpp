#include "base/ending.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>

namespace hopscope::base {

namespace {

using namespace std::chrono_literals;

constexpr auto grace = 700ms;
constexpr auto look = 20ms;

std::atomic<int> g_uninterruptible{0};

void watch(const std::stop_token& calledOff, int code)
{
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    const auto pause = [&](std::chrono::milliseconds time) {
        never.wait_for(lock, calledOff, time, [] { return false; });
        return !calledOff.stop_requested();
    };
    for (auto time = grace; pause(time); time = look)
        if (g_uninterruptible > 0) _exit(code);
}

}  // namespace

Uninterruptible::Uninterruptible() { ++g_uninterruptible; }
Uninterruptible::~Uninterruptible() { --g_uninterruptible; }

void Ending::begin(int code)
{
    std::call_once(m_begun, [&] { m_watch = std::jthread(watch, code); });
}

}  // namespace hopscope::base

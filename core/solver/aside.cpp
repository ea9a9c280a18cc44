#include "solver/aside.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

namespace hopscope::solver {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto grace = 100ms, last = 500ms;

struct Order {
    std::shared_ptr<Task> task;
    bool ended = false;
    std::exception_ptr error;
};

class Crew {
public:
    void put(const std::shared_ptr<Order>& order)
    {
        const std::lock_guard lock(m_mutex);
        if (m_idle <= m_orders.size() && m_threads.size() < most) m_threads.emplace_back([this] { serve(); });
        m_orders.push_back(order);
        m_news.notify_one();
    }
    bool ended(const std::shared_ptr<Order>& order, const std::stop_token& stop, Clock::time_point end)
    {
        std::unique_lock lock(m_mutex);
        const auto over = [&] { return order->ended; };
        if (end == Clock::time_point::max() ? m_ends.wait(lock, stop, over) : m_ends.wait_until(lock, stop, end, over))
            return true;
        order->task->interrupt();
        if (std::erase(m_orders, order) != 0) return false;
        return m_ends.wait_for(lock, grace, over);
    }
    // False: some still run.
    bool dismiss()
    {
        std::unique_lock lock(m_mutex);
        m_dismissed = true;
        for (const auto& order : m_running) order->task->interrupt();
        m_news.notify_all();
        if (!m_ends.wait_for(lock, last, [this] { return m_running.empty(); })) return false;
        lock.unlock();
        for (std::thread& thread : m_threads) thread.join();
        return true;
    }

private:
    static constexpr std::size_t most = 3;  // two may have been left behind

    void serve()
    {
        std::unique_lock lock(m_mutex);
        for (;;) {
            ++m_idle;
            m_news.wait(lock, [this] { return m_dismissed || !m_orders.empty(); });
            --m_idle;
            if (m_dismissed) return;
            std::shared_ptr<Order> order = std::move(m_orders.front());
            m_orders.pop_front();
            m_running.push_back(order);
            lock.unlock();
            perform(*order);
            lock.lock();
            std::erase(m_running, order);
            order->ended = true;
            m_ends.notify_all();
            lock.unlock();
            order.reset();  // frees, where the caller is gone
            lock.lock();
        }
    }
    static void perform(Order& order)
    {
        try {
            order.task->run();
        } catch (...) {
            order.error = std::current_exception();
        }
    }

    std::mutex m_mutex;
    std::condition_variable_any m_news, m_ends;
    std::deque<std::shared_ptr<Order>> m_orders;
    std::vector<std::shared_ptr<Order>> m_running;
    std::vector<std::thread> m_threads;
    std::size_t m_idle = 0;
    bool m_dismissed = false;
};

std::atomic<Crew*> g_crew = nullptr;

// Made for the first task, and in a forked process again, which has none of the threads.
Crew& crew()
{
    if (g_crew == nullptr) {
        auto made = std::make_unique<Crew>();
        Crew* none = nullptr;
        if (g_crew.compare_exchange_strong(none, made.get())) static_cast<void>(made.release());
    }
    return *g_crew;
}

// Destructors must not find a task at work.
void dismissCrew(int code, void*)
{
    Crew* const all = g_crew;
    if (all == nullptr || all->dismiss()) return;
    std::cout.flush();
    std::fflush(nullptr);
    _exit(code);
}

// Before main(), so that all handlers that the program registers come first.
[[maybe_unused]] const int g_registered =
    on_exit(dismissCrew, nullptr) + pthread_atfork(nullptr, nullptr, [] { g_crew = nullptr; });

}  // namespace

bool runAside(const std::shared_ptr<Task>& task, const std::stop_token& stop, Clock::time_point end)
{
    const auto order = std::make_shared<Order>(Order{.task = task, .ended = false, .error = nullptr});
    Crew& all = crew();
    all.put(order);
    if (!all.ended(order, stop, end)) return false;
    if (order->error) std::rethrow_exception(order->error);
    return true;
}

}  // namespace hopscope::solver

#include "executor/stores/group_commit.h"

#include <chrono>

namespace hopscope::executor {

namespace {

constexpr std::chrono::seconds interval(1);

}  // namespace

GroupCommit::GroupCommit(Journal& journal)
    : m_journal(journal),
      m_thread([this](const std::stop_token& stop) { work(stop); })
{}

void GroupCommit::watch(const std::shared_ptr<Store>& store)
{
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_stores, [](const auto& held) { return held.expired(); });
    m_stores.push_back(store);
}

void GroupCommit::check()
{
    const std::lock_guard lock(m_mutex);
    if (m_failed) throw Failure(*m_failed);
}

void GroupCommit::now()
{
    commit();
    check();
}

void GroupCommit::finish()
{
    m_thread.request_stop();
    m_thread.join();
    check();
}

void GroupCommit::work(const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    while (!m_waiting.wait_for(lock, stop, interval, [&stop] { return stop.stop_requested(); })) {
        if (stop.stop_requested() || m_failed) return;
        lock.unlock();
        commit();
        lock.lock();
    }
}

void GroupCommit::commit()
{
    const std::lock_guard one(m_committing);
    const base::Status done = sync();
    const std::lock_guard lock(m_mutex);
    if (!done && !m_failed) m_failed = done.error();
}

// Flushes rows before the records that refer to them.
base::Status GroupCommit::sync()
{
    std::vector<std::weak_ptr<Store>> stores;
    const std::int64_t end = m_journal.end();
    {
        const std::lock_guard lock(m_mutex);
        stores = m_stores;
    }
    for (const std::weak_ptr<Store>& held : stores)
        if (const std::shared_ptr<Store> store = held.lock())
            if (const base::Status synced = store->sync(); !synced) return synced;
    return m_journal.sync(end);
}

}  // namespace hopscope::executor

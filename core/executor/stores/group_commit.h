#pragma once

// Private to executor: flushes the rows of stores, and then the journal, to the disk once a second, on a separate
// thread. If the process is killed, nothing is lost; if the machine loses power, the work of the last seconds is lost.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "executor/stores/store.h"

namespace hopscope::executor {

class GroupCommit {
public:
    explicit GroupCommit(Journal& journal);
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    // Flushes the rows of this store from now on, as long as it exists.
    void watch(const std::shared_ptr<Store>& store);
    // Raises the error of a failed write to the disk.
    void check();
    // Flushes everything so far to the disk. Raises errors, including those of the thread, because the system reports
    // an error only to the first thread that asks.
    void now();
    // Ends the flushing. Call it once, at the end of the run. Raises the same errors.
    void finish();

private:
    void work(const std::stop_token& stop);
    void commit();
    base::Status sync();

    Journal& m_journal;
    std::mutex m_committing;  // one at a time
    std::mutex m_mutex;       // guards the members below
    std::condition_variable_any m_waiting;
    std::vector<std::weak_ptr<Store>> m_stores;
    std::optional<base::Error> m_failed;
    std::jthread m_thread;  // the last member: its destructor waits for a commit that is under way
};

}  // namespace hopscope::executor

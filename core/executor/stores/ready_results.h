#pragma once

// Private to executor: creates the files of results, and makes their pages present, while earlier stages compute.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "executor/stores/store.h"

namespace hopscope::executor {

// A run on a GPU leaves cores idle: one of them provides the new pages of files, which take longer than copying rows
// into them. Destroying the object removes files that were not taken.
class ReadyResults {
public:
    using Make = std::function<std::shared_ptr<Store>(ir::ValueId)>;

    ReadyResults() = default;
    ~ReadyResults() { end(); }
    ReadyResults(const ReadyResults&) = delete;
    ReadyResults& operator=(const ReadyResults&) = delete;

    // Starts a thread that creates the stores of these values with `make`, and then prepares their pages.
    void begin(std::vector<ir::ValueId> values, Make make);
    // Returns the store of a value, whose pages may still be in the making; each can be taken once. Returns nullptr if
    // there is none, or if it could not be created: creating it again reports the reason. Waits while files are created.
    std::shared_ptr<Store> take(ir::ValueId value);
    // Ends the thread within milliseconds, or once the file that it is creating exists.
    void end() { m_thread = {}; }

private:
    std::vector<std::shared_ptr<Store>> create(const std::vector<ir::ValueId>& values, const Make& make,
                                               const std::stop_token& stop);

    std::mutex m_mutex;  // guards the members below
    std::condition_variable m_created;
    bool m_creating = false;
    std::map<ir::ValueId, std::shared_ptr<Store>> m_stores;  // that were not taken
    std::jthread m_thread;
};

}  // namespace hopscope::executor

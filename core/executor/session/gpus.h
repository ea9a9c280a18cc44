#pragma once

// Private to executor: runs work on all GPUs of a run at the same time.

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/session/session.h"

namespace hopscope::executor {

// The first GPU belongs to the calling thread, each other one to a thread of its own, which alone calls the device,
// creates its session and destroys it.
class Gpus {
public:
    // Opens the sessions of the other devices in first.options.device. From now on, the token of all sessions also stops
    // them if one of them fails. `first` must outlive the object.
    explicit Gpus(Session& first);
    ~Gpus();
    Gpus(const Gpus&) = delete;
    Gpus& operator=(const Gpus&) = delete;

    [[nodiscard]] std::size_t count() const { return m_others.size() + 1; }
    using Work = std::function<void(Session& session, std::size_t number)>;  // numbered from 0
    // Calls `work` for each GPU, on the GPU's thread and with a share of the cores, and waits for all. If one of them
    // fails, the others are stopped, and its exception is thrown again; those of the device name the GPU.
    void each(const Work& work);

private:
    struct Other {
        std::string name;
        std::unique_ptr<Session> session;
        std::function<void()> task;  // empty: none is waiting or running
        std::jthread thread;
    };
    void introduce();
    void post(Other& other, std::function<void()> task);
    void wait();
    void end();
    void serve(Other& other);
    void attempt(const std::string& name, const std::function<void()>& task);

    Session& m_first;
    std::string m_firstName;
    int m_cores;  // of each GPU's thread
    std::stop_source m_stop;
    std::optional<std::stop_callback<std::function<void()>>> m_forward;  // of the user's stop
    std::mutex m_mutex;  // guards all that follows, except sessions, which belong to their threads
    std::condition_variable m_changed;
    bool m_ending = false;
    std::exception_ptr m_failure;  // the first one
    std::vector<std::unique_ptr<Other>> m_others;
};

}  // namespace hopscope::executor

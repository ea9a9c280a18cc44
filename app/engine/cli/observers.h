#pragma once

// Observers that show the progress line of a run and write its Chrome trace.

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cli/console.h"
#include "executor/events.h"
#include "json/json.h"

namespace hopscope::engine {

class ProgressObserver final : public executor::Observer {
public:
    explicit ProgressObserver(Console& console) : m_console(console) {}
    void prologueStarted() override;
    void prologueFinished(double seconds) override;
    void stageStarted(const executor::StageEvent& event) override;
    void stageFinished(plan::StageId stage, double seconds) override;
    void batchFinished(const executor::BatchEvent& event) override;
    void note(const std::string& sentence) override;

private:
    Console& m_console;
    std::string m_stage;
};

// Writes events at once, with a lane per phase and device memory as a counter. The batches of a GPU overlap: their
// phases are next to each other in their lanes, and a later line of the file may have an earlier start time.
class TraceObserver final : public executor::Observer {
public:
    // Creates the file under a temporary name, which it has until publish(). Fails with Input if it cannot be created.
    static base::Result<std::unique_ptr<TraceObserver>> create(const std::string& path);
    ~TraceObserver() override;

    void prologueFinished(double seconds) override;
    void stageStarted(const executor::StageEvent& event) override;
    void stageFinished(plan::StageId stage, double seconds) override;
    void batchFinished(const executor::BatchEvent& event) override;
    void phaseFinished(const executor::PhaseEvent& event) override;
    void note(const std::string& sentence) override;
    base::Status publish();

private:
    explicit TraceObserver(std::string path) : m_path(std::move(path)) {}
    void emit(const json::Value& event);

    std::string m_path, m_temporary;
    std::FILE* m_file = nullptr;
    bool m_first = true;
    double m_now = 0;  // the latest end of a phase, used for events without a time of their own
    double m_stageStart = 0;
    std::set<int> m_devices;  // beyond the first, whose lanes have names
};

// Passes every event to each observer, in order.
class Observers final : public executor::Observer {
public:
    void add(executor::Observer& observer) { m_observers.push_back(&observer); }
    void prologueStarted() override;
    void prologueFinished(double seconds) override;
    void stageStarted(const executor::StageEvent& event) override;
    void stageFinished(plan::StageId stage, double seconds) override;
    void batchFinished(const executor::BatchEvent& event) override;
    void phaseFinished(const executor::PhaseEvent& event) override;
    void note(const std::string& sentence) override;

private:
    std::vector<executor::Observer*> m_observers;
};

}  // namespace hopscope::engine

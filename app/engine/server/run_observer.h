#pragma once

#include <chrono>
#include <map>

#include "executor/events.h"
#include "executor/overlap.h"
#include "server/events.h"
#include "server/gate.h"

namespace hopscope::engine {

// Reports events to the feed, and holds the run at the gate between batches. Reported times exclude pauses.
class ServedRun final : public executor::Observer {
public:
    // `verifies` means that the run is verified after its last stage.
    ServedRun(EventFeed& feed, RunGate& gate, std::stop_token stop, bool verifies)
        : m_feed(feed),
          m_gate(gate),
          m_stop(std::move(stop)),
          m_verifies(verifies)
    {}

    void prologueStarted() override;
    void prologueFinished(double seconds) override;
    void stageStarted(const executor::StageEvent& event) override;
    void stageFinished(plan::StageId stage, double seconds) override;
    void batchFinished(const executor::BatchEvent& event) override;
    void phaseFinished(const executor::PhaseEvent& event) override;
    void note(const std::string& sentence) override;
    // Called after an operator of a batch. Returns when the run may continue, or when it is stopped.
    void stoppedAt(protocol::StopEvent event);

    [[nodiscard]] double pausedSeconds() const { return m_paused; }
    // Returns the seconds paused in each stage; stage 0 stands for pauses before and between stages.
    [[nodiscard]] const std::map<plan::StageId, double>& pausedIn() const { return m_pausedIn; }

private:
    using Clock = std::chrono::steady_clock;

    void tell(protocol::RunEvent event) { m_feed.push(std::move(event), m_stop); }
    void hold();
    void account(const executor::PhaseEvent& event);
    [[nodiscard]] double now() const;  // without pauses

    EventFeed& m_feed;
    RunGate& m_gate;
    std::stop_token m_stop;
    bool m_verifies;
    Clock::time_point m_began = Clock::now();
    int m_stages = 0;
    double m_paused = 0;
    plan::StageId m_place;  // the current stage; 0: none
    std::map<plan::StageId, double> m_pausedIn;
    double m_pausedInBatch = 0;   // after operators
    executor::Overlap m_overlap;  // of the current stage
    bool m_copies = false;        // the run is on a GPU
};

}  // namespace hopscope::engine

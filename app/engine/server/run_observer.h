#pragma once

#include <chrono>

#include "executor/events.h"
#include "executor/overlap.h"
#include "server/events.h"
#include "server/gate.h"

namespace hopscope::engine {

// Tells the feed what happens, and holds the run at the gate between batches.
class ServedRun final : public executor::Observer {
public:
    // `verifies`: the run is verified after its last stage.
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

    [[nodiscard]] double pausedSeconds() const { return m_paused; }

private:
    using Clock = std::chrono::steady_clock;

    void tell(protocol::RunEvent event) { m_feed.push(std::move(event), m_stop); }
    void hold();
    void account(const executor::PhaseEvent& event);
    [[nodiscard]] double now() const;

    EventFeed& m_feed;
    RunGate& m_gate;
    std::stop_token m_stop;
    bool m_verifies;
    Clock::time_point m_began = Clock::now();
    int m_stages = 0;
    double m_paused = 0;
    executor::Overlap m_overlap;  // of the stage that is under way
    bool m_copies = false;        // it runs on a GPU
};

}  // namespace hopscope::engine

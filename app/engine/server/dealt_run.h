#pragma once

// Computes this process's part of a run shard by shard, as ordered by a client, on a separate thread. Other processes
// compute the rest; all of them share the output folder.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/journal.h"
#include "pipeline/publishing/evaluate.h"
#include "server/requests.h"

namespace hopscope::engine {

class DealtRun final : public executor::Dealer {
public:
    // This object becomes the dealer of the shard in `request`. `folder` is the run's output, or the reason why it
    // could not be opened.
    DealtRun(pipeline::EvaluationRequest request, base::Result<pipeline::OutputFolder> folder);
    ~DealtRun() override;  // cancels and waits
    DealtRun(const DealtRun&) = delete;
    DealtRun& operator=(const DealtRun&) = delete;

    // Called on the answering thread. Passes on an order, if there is one, and returns when the run awaits the next
    // order at a stage, or has ended. Returns the error with which the run ended, if any; call.stop cancels the run.
    base::Status carryOut(const std::optional<executor::Order>& order, const Call& call);

    // The stage at which the run waits between orders; 0 once it has ended.
    [[nodiscard]] plan::StageId stage() const;
    [[nodiscard]] int stages() const { return m_stages; }
    [[nodiscard]] const executor::StageShards& left() const { return m_left; }
    [[nodiscard]] std::int64_t destinations() const { return m_computed; }  // of the last shard
    [[nodiscard]] const plan::Bytes& moved() const { return m_moved; }      // by the last shard
    // Returns how many bytes were read back that other processes had written; valid at the end of the last stage.
    [[nodiscard]] std::int64_t readBack() const { return m_readBack; }
    // Returns the report of a run that was published by this process or earlier; null if there is none.
    [[nodiscard]] const schema::Report* report() const;
    [[nodiscard]] std::vector<std::string> takeNotes();

    // These functions are called on the thread of the run.
    base::Result<executor::Order> next(plan::StageId stage, int stages, const std::stop_token& stop) override;
    void listed(executor::StageShards left) override { m_left = std::move(left); }
    void computed(std::int64_t destinations, const plan::Bytes& moved) override;
    void readBack(std::int64_t bytes) override { m_readBack = bytes; }

private:
    class Listener;
    void body();
    base::Result<pipeline::Evaluation> evaluated();
    void tell(const base::Progress& progress);
    void note(const std::string& sentence);

    pipeline::EvaluationRequest m_request;
    base::Result<pipeline::OutputFolder> m_folder;
    std::stop_source m_stop;
    mutable std::mutex m_mutex;  // guards the members below
    std::condition_variable_any m_changed;
    std::optional<executor::Order> m_order;
    bool m_standing = false, m_ended = false;
    plan::StageId m_stage;
    int m_stages = 0;
    executor::StageShards m_left;
    std::int64_t m_computed = 0, m_readBack = 0;
    plan::Bytes m_moved;
    base::ProgressFn m_progress;  // the callback of the waiting request
    std::vector<std::string> m_notes;
    base::Result<pipeline::Evaluation> m_result;
    std::thread m_thread;
};

}  // namespace hopscope::engine

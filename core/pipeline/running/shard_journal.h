#pragma once

// Keeps the journals of processes that compute a run together. Each process writes a file of records and reads those of
// the others, in a folder to which all have access. The first one makes the plan. docs/reference/format-journal.md
// describes the files.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/reporter.h"
#include "pipeline/running/run_journal.h"

namespace hopscope::pipeline {

class ShardJournal final : public RunJournal, public executor::Others {
public:
    // Opens the journal of a shard. Waits while another shard makes the plan. `folder` is a shared one. Fails as
    // RunJournal::open() does, and with Cancelled.
    static base::Result<std::unique_ptr<RunJournal>> open(OutputFolder& folder, const Conditions& conditions,
                                                          const ShardOptions& options, Reporter& reporter,
                                                          const std::stop_token& stop);
    ~ShardJournal() override;

    base::Result<std::vector<executor::Chunk>> begin(std::int64_t batchBytes,
                                                     const std::vector<plan::LoopCut>& cuts) override;
    base::Status append(const executor::Chunk& chunk) override;
    [[nodiscard]] std::int64_t end() const override;
    base::Status sync(std::int64_t end) override;
    executor::Others* others() override { return this; }

    [[nodiscard]] executor::Share share() const override { return *folder().share(); }
    [[nodiscard]] bool repeated() const override { return foundEnd() > 0; }
    [[nodiscard]] executor::Dealer* dealer() const override { return m_options.dealer; }
    base::Result<std::vector<executor::Chunk>> gather() override;
    base::Status wait(const executor::Waiting& waiting, const std::stop_token& stop) override;
    void ready() override;
    base::Result<bool> conclude(const std::stop_token& stop) override;

protected:
    [[nodiscard]] std::string whatCannot() const override;

private:
    using Clock = std::chrono::steady_clock;
    // The part of another process's file of records that has been read.
    struct Source {
        std::size_t at = 0;
        std::int64_t settled = 0;
        std::vector<executor::Chunk> chunks;
        std::vector<std::int64_t> ends;  // the ends of their lines
    };
    ShardJournal(OutputFolder& folder, const Conditions& conditions, const ShardOptions& options, Reporter& reporter);
    base::Status found(const std::stop_token& stop);
    base::Status readMore(const std::string& path, Source& source) const;
    [[nodiscard]] bool hasEnded(const std::string& name) const;
    base::Status pause(const std::string& waiting, const base::Progress& progress, const std::stop_token& stop);
    [[nodiscard]] std::string sentenceOn(const executor::Waiting& waiting) const;

    ShardOptions m_options;
    Reporter& m_reporter;
    std::string m_own;  // the name of this process's file of records
    int m_foundation = -1;
    std::map<std::string, Source> m_sources;
    std::optional<Clock::time_point> m_since;  // the time at which the current wait began
    bool m_told = false;
    mutable std::mutex m_mutex;                  // guards the two ends below
    std::int64_t m_recorded = 0, m_settled = 0;  // the end of all records, and of those with rows on disk
};

// Returns the digest of the conditions, which identifies the run in reports.
std::string nameOfRun(const Conditions& conditions);

}  // namespace hopscope::pipeline

#pragma once

// Runs with a journal on GPUs that are not there, ended after any record and begun again.

#include <map>
#include <optional>

#include "device_runs.h"
#include "support/temporary_folder.h"

namespace hopscope::device_tests {

enum class Ending : std::uint8_t {
    Killed,     // before the record: its rows are written
    Cancelled,  // some time after the record
};

// A journal in memory, of one run after the other, each of which ends after a number of records.
class Notes final : public executor::Journal {
public:
    std::optional<std::int64_t> batchBytes() const override { return m_batchBytes; }
    base::Result<std::vector<executor::Chunk>> begin(std::int64_t batchBytes,
                                                     const std::vector<plan::LoopCut>& cuts) override
    {
        if (m_batchBytes && (batchBytes != *m_batchBytes || cuts != m_cuts))
            return base::fail(base::ErrorCode::Internal, "a resumed run is cut differently");
        m_batchBytes = batchBytes;
        m_cuts = cuts;
        return chunks;
    }
    base::Status append(const executor::Chunk& chunk) override
    {
        if (left-- == 0 && ending == Ending::Killed) return base::fail(base::ErrorCode::Cancelled, "killed");
        if (left == 0 && ending == Ending::Cancelled) stop.request_stop();
        chunks.push_back(chunk);
        return {};
    }
    base::Status sync(std::int64_t) override { return {}; }

    std::vector<executor::Chunk> chunks;
    std::int64_t left = -1;  // records until the end of the current run; negative: it runs to its end
    Ending ending = Ending::Killed;
    std::stop_source stop;

private:
    std::optional<std::int64_t> m_batchBytes;
    std::vector<plan::LoopCut> m_cuts;
};

// A run in a folder of its own, which several processes compute after each other.
struct Run {
    const Subject& subject;
    executor::Options options;
    test::TemporaryFolder folder{};
    Notes notes{};

    base::Result<executor::RunReport> process()
    {
        options.folder = folder.path;
        options.journal = &notes;
        notes.stop = {};
        executor::Observer silent;
        return executor::run(subject.prepared.walk, subject.prepared.analysis, subject.plan, subject.inputs, options,
                             silent, notes.stop.get_token());
    }
};

// The SHA-256 of each output.
std::map<std::string, std::string> hashes(const base::Result<executor::RunReport>& report);

// Ended after each number of records in turn, and resumed on `resumedOn`: the bits must be those of a run on cuda:0.
void endEverywhere(const Subject& s, const executor::Options& options, std::int64_t step = 1,
                   const std::string& resumedOn = "cuda:1");

// With the tables that stay on a GPU.
Subject withResidents(Subject s);

}  // namespace hopscope::device_tests

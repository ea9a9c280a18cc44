#pragma once

// Private to executor: runs one loop of a stage over all destinations, in batches that fit.

#include <vector>

#include "executor/batch.h"
#include "executor/loop_sizer.h"

namespace hopscope::executor {

// How far a stage has come: destinations of all its loops.
struct StageProgress {
    std::int64_t done = 0, total = 0;
};

// A batch that has been computed.
struct FinishedBatch {
    Batch& batch;
    Block& block;
    BatchRows rows;
    MemoryStats memory;
};

// What is said and counted about the batches of a loop.
class LoopBooks {
public:
    LoopBooks(Session& session, const LoopProgram& program, StageReport& report, StageProgress& progress)
        : m_session(session),
          m_program(program),
          m_report(report),
          m_progress(progress)
    {}

    // In the order of the batches; tells the observer.
    void account(const FinishedBatch& finished);
    // A batch was too large and will be redone: a note. Raises Resources if there is no smaller one; on a GPU, if a single
    // destination fails again with nothing else under way.
    void tooLarge(LoopSizer& sizer, const Destinations& destinations);

private:
    void phases(const PhaseTimes& times);

    Session& m_session;
    const LoopProgram& m_program;
    StageReport& m_report;
    StageProgress& m_progress;
    std::int64_t m_number = 0;
    std::int64_t m_retried = -1;  // a single destination that has had its second try
};

// All destinations of the loop's type, in random order if the options say so.
class DestinationOrder {
public:
    DestinationOrder(Session& session, const LoopProgram& program);
    [[nodiscard]] std::int64_t count() const { return m_count; }
    [[nodiscard]] const std::int64_t* order() const { return m_order.empty() ? nullptr : m_order.data(); }

private:
    std::int64_t m_count;
    std::vector<std::int64_t> m_order;
};

// One batch after the other, each with all cores.
void runInTurn(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books);

// Runs `program` on the device of the session. `budget`: bytes that a batch may take there, with what stays beside it on a
// GPU.
void runLoop(Session& session, const LoopProgram& program, StageReport& report, StageProgress& progress, double budget);

}  // namespace hopscope::executor

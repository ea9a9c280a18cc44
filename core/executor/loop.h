#pragma once

// Private to executor: runs a loop of a stage over all destinations, in batches that fit into memory.

#include <vector>

#include "executor/batch.h"
#include "executor/loop_sizer.h"

namespace hopscope::executor {

// Progress of a stage, in destinations of all its loops.
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

// Keeps the report on the batches of a loop and tells the observer.
class LoopBooks {
public:
    LoopBooks(Session& session, const LoopProgram& program, StageReport& report, StageProgress& progress)
        : m_session(session),
          m_program(program),
          m_report(report),
          m_progress(progress)
    {}

    // To be called in the order of the batches.
    void account(const FinishedBatch& finished);
    // Notes that a batch ran out of memory and will be redone with fewer destinations. Raises Resources if it had a
    // single destination; on a GPU only if that failed twice, the second time with no other batch under way.
    void tooLarge(LoopSizer& sizer, const Destinations& destinations);

private:
    void phases(const PhaseTimes& times);

    Session& m_session;
    const LoopProgram& m_program;
    StageReport& m_report;
    StageProgress& m_progress;
    std::int64_t m_number = 0;
    std::int64_t m_retried = -1;  // a single destination that has been retried
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

// Runs the batches one after the other, each on all cores.
void runInTurn(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books);

// Runs `program` on the device of the session. `budget`: bytes that a batch may use there; on a GPU this includes
// memory that is held for the whole loop.
void runLoop(Session& session, const LoopProgram& program, StageReport& report, StageProgress& progress, double budget);

}  // namespace hopscope::executor

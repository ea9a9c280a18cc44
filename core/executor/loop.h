#pragma once

// Private to executor: runs one loop of a stage over all destinations, in batches that fit.

#include "executor/batch.h"
#include "executor/batching.h"

namespace hopscope::executor {

class LoopRunner {
public:
    // `budget`: bytes that a batch may take on the executing device. `done`, `total`: destinations of the stage.
    LoopRunner(Session& session, const LoopProgram& program, StageReport& report, double budget);

    void run(std::int64_t& done, std::int64_t total);

private:
    void batch(const Destinations& destinations, std::int64_t& done, std::int64_t total);
    bool attempt(const Destinations& destinations);
    void backOff(const Destinations& destinations);
    double predicted(const Destinations& destinations);
    double rowsPredicted(const ir::RowClass& rows, const Destinations& destinations);
    void account(const Destinations& destinations, std::int64_t number, std::int64_t done, std::int64_t total);
    void reportPhases(std::int64_t number);
    void learnFrontier(const Destinations& destinations);
    std::vector<std::int64_t> shuffled(std::int64_t count) const;

    Session& m_session;
    const LoopProgram& m_program;
    StageReport& m_report;
    Block m_block;
    Batch m_batch;
    MemoryModel m_model;
    BatchSizer m_sizer;
    double m_frontierRatio = 1;  // new frontier rows per row that asks for one
    std::int64_t m_frontier = 0, m_edges = 0;
    double m_predicted = 0;
    std::int64_t m_number = 0;
    std::int64_t m_done = 0, m_total = 0;
};

}  // namespace hopscope::executor

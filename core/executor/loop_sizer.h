#pragma once

// Private to executor: how many destinations the next batch of a loop takes, from what is known about its rows and what
// earlier batches took. Several threads may ask and tell.

#include <mutex>

#include "executor/batching.h"
#include "executor/session.h"

namespace hopscope::executor {

// Counts of a batch whose block has been built.
struct BatchRows {
    std::int64_t edges = 0, frontier = 0;
};

class LoopSizer {
public:
    // `budget`: bytes that a batch may take on the executing device.
    LoopSizer(Session& session, const LoopProgram& program, double budget);

    // Destinations of the batch that begins at `first`, at least one.
    std::int64_t next(std::int64_t first, std::int64_t left, const std::int64_t* order);
    // Bytes on the executing device.
    double predicted(const Destinations& destinations);
    // What a finished batch of predicted size took, and what its block was like.
    void observe(double predicted, double actual);
    BatchRows learn(Block& block);
    // The batch did not fit. False if it was a single destination.
    bool backOff(std::int64_t destinations);
    // Rows that a destination range owns.
    std::int64_t ownedRows(const Destinations& destinations);

private:
    double rowsPredicted(const ir::RowClass& rows, const Destinations& destinations);
    double bytes(const Destinations& destinations);

    Session& m_session;
    const LoopProgram& m_program;
    Block m_block;  // counts only
    MemoryModel m_model;
    BatchSizer m_sizer;
    double m_frontierRatio = 1;  // new frontier rows per row that asks for one
    std::mutex m_mutex;
};

}  // namespace hopscope::executor

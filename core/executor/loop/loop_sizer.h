#pragma once

// Private to executor: chooses the number of destinations of each batch of a loop, based on the rows that these own and
// on the memory that earlier batches used. Thread-safe.

#include <mutex>

#include "executor/loop/batching.h"
#include "executor/session/session.h"

namespace hopscope::executor {

// The number of rows of a batch whose block has been built.
struct BatchRows {
    std::int64_t edges = 0, frontier = 0;
};

// Predicts the bytes of a batch on the executing device from the rows that its destinations own. The number of frontier
// rows is estimated as a share of the rows that refer to them.
class BatchMemory {
public:
    BatchMemory(const analysis::Analysis& analysis, Structure& structure, const LoopProgram& program, bool gpu);

    double bytes(const Destinations& destinations, double frontierRatio);
    // Returns the number of rows that the destinations own in all tables.
    std::int64_t ownedRows(const Destinations& destinations);

private:
    double rows(const ir::RowClass& rows, const Destinations& destinations, double frontierRatio);

    const analysis::Analysis& m_analysis;
    Structure& m_structure;
    const LoopProgram& m_program;
    bool m_gpu;
    Block m_block;  // counts only
    MemoryModel m_model;
};

class LoopSizer {
public:
    // `budget` is the number of bytes that a batch may use on the executing device. `steady` is for a
    // steady session (BatchSizer::steady).
    LoopSizer(Session& session, const LoopProgram& program, double budget)
        : LoopSizer(session, program, budget, session.steady())
    {}
    LoopSizer(Session& session, const LoopProgram& program, double budget, bool steady);

    // See BatchSizer.
    void expect(std::int64_t destinations) { m_sizer.expect(destinations); }
    // Returns the number of destinations in the batch that starts at `first`, at least 1. `left` is the number of
    // destinations from there on.
    std::int64_t next(std::int64_t first, std::int64_t left, const std::int64_t* order);
    // Returns the largest number of these destinations, from the first one on, for which rows() is at most `rows`, but
    // at least 1.
    std::int64_t within(const Destinations& destinations, double rows);
    // Returns the number of these destinations plus the number of rows that they own in all tables.
    std::int64_t rows(const Destinations& destinations);
    // Returns the bytes that a batch is predicted to use on the executing device.
    double predicted(const Destinations& destinations);
    // Take the predicted and actual bytes of a finished batch, and its block. Call them for each batch.
    void observe(double predicted, double actual);
    BatchRows learn(Block& block);
    // Reduces the size of batches after one has run out of memory. Returns false if it had a single destination, or if
    // the loop has tiles.
    bool backOff(std::int64_t destinations);
    // Returns the number of rows that the destinations own in all tables.
    std::int64_t ownedRows(const Destinations& destinations) { return m_memory.ownedRows(destinations); }

private:
    double bytes(const Destinations& destinations) { return m_memory.bytes(destinations, m_frontierRatio); }

    Session& m_session;
    const LoopProgram& m_program;
    BatchMemory m_memory;
    BatchSizer m_sizer;
    double m_frontierRatio = 1;  // frontier rows per row that refers to one (duplicates make it less than 1)
    std::mutex m_mutex;
};

}  // namespace hopscope::executor

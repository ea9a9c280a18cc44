#pragma once

// Private to executor: runs a loop of a stage over all destinations, in batches that fit into memory.

#include <new>
#include <set>
#include <utility>
#include <vector>

#include "executor/loop/chunk_log.h"
#include "executor/loop/loop_sizer.h"
#include "executor/rows/ranges.h"

namespace hopscope::executor {

class BatchOrder;

// The progress of a stage, in destinations of all its loops.
struct StageProgress {
    std::int64_t done = 0, total = 0;
};

// The reported figures of a batch, or of successive batches together.
struct BatchFigures {
    std::int64_t first = 0, destinations = 0;
    BatchRows rows;
    PhaseTimes times;
    plan::Bytes bytes;
    MemoryStats memory;
    OperatorCosts costs;
    std::vector<StoredPart> parts;  // of a single batch
    int device = 0;                 // as in PhaseEvent

    void add(const BatchFigures& later);
};

// Returns the figures of a batch that has been computed and stored.
BatchFigures figuresOf(Batch& batch, const Block& block, const BatchRows& rows, const MemoryStats& memory,
                       std::vector<StoredPart> parts = {});

// Runs `work`, and returns false if it ran out of memory, on the host or on the device.
template <class Work>
bool fitsIntoMemory(Work&& work)
{
    try {
        std::forward<Work>(work)();
        return true;
    } catch (const c10::OutOfMemoryError&) {
        return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

// Adds the batches of a loop to the report and notifies the observer.
class LoopBooks {
public:
    LoopBooks(Session& session, const LoopProgram& program, const LoopNumber& number, StageReport& report,
              StageProgress& progress);

    // Reports a finished batch. Call it in the order of the batches.
    void account(const BatchFigures& finished);
    // Do the same in two parts: count() adds each batch to the report, and tell() notifies the observer of several at
    // once.
    void count(const BatchFigures& batch);
    void tell(const BatchFigures& batches);
    // Records that a range was computed in windows, which read `bytes` from files; reading each table once would take
    // `least` bytes.
    void streamed(std::int64_t windows, std::int64_t bytes, std::int64_t least);
    // Adds chunks that an earlier process has computed.
    void takeOver(const std::vector<Chunk>& chunks);
    // Completes the journal of the loop. Call it when nothing is left to compute.
    void close() { m_log.close(true); }
    // See ChunkLog.
    void keepWhole() { m_log.keepWhole(); }
    // Records that a tile ran out of memory and will be computed again.
    void again() { ++m_report.backOffs; }
    // Records that a batch ran out of memory and will be redone with fewer destinations. Raises Resources if it had a
    // single destination or is a tile; on a GPU, only if that failed twice, the second time without any other batch in
    // progress.
    void tooLarge(LoopSizer& sizer, const Destinations& destinations);

private:
    Session& m_session;
    const LoopProgram& m_program;
    StageReport& m_report;
    StageProgress& m_progress;
    ChunkLog m_log;
    std::size_t m_firstOperator;  // of the loop, in the report
    std::int64_t m_number = 0;
    std::set<std::int64_t> m_retried;  // single destinations, and the first ones of tiles, that have been retried
};

// The order of all destinations of the loop's type, which is random if the options demand it.
class DestinationOrder {
public:
    DestinationOrder(Session& session, const LoopProgram& program);
    [[nodiscard]] std::int64_t count() const { return m_count; }
    [[nodiscard]] const std::int64_t* order() const { return m_order.empty() ? nullptr : m_order.data(); }

private:
    std::int64_t m_count;
    std::vector<std::int64_t> m_order;
};

// Runs the batches of a range of destinations one after the other, each on all cores.
void runInTurn(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books,
               const Destinations& range);

// The chunks of a loop that an earlier process has computed, the remaining destinations, and the loop that follows.
struct LoopShare {
    std::vector<Chunk> kept;
    std::optional<std::vector<Destinations>> left;  // nullopt: all
    const LoopProgram* next = nullptr;              // the loop that follows
    std::optional<std::int64_t> size{};             // batches of so many destinations are known to fit
};

// Runs `program` on the device of the session. `budget` is the number of bytes that a batch may use there; on a GPU,
// this includes memory that is held for the whole loop.
void runLoop(Session& session, const LoopProgram& program, LoopBooks& books, const LoopShare& share, double budget);

// Does the same for some destinations on the GPU of the session, one of several. The calling thread must be that of the
// GPU.
void runOnGpu(Session& session, const LoopProgram& program, BatchOrder& order, Ranges ranges, double budget);

}  // namespace hopscope::executor

#pragma once

// Private to executor: pipelines the batches of a loop on a GPU.
//
//   preparing thread   builds blocks and gathers rows into pinned memory, ahead of the others
//   calling thread     queues copies and operators, and waits for the oldest batch; only it uses the device
//   writing thread     writes finished rows to their stores
//
// Each batch has a slot of the ring, whose state changes from free to prepared, under way, to be written, and written.
// The number of slots is fixed, which bounds the memory: one batch is being prepared, one is being written, and three
// are on the device, where one is computed while the next one is copied to the device and the previous one to the host.
// Data and results that exceed the memory of their slot pass through it in pieces (pieces.h): such a batch counts as
// prepared before its data are gathered, and as to be written once the first piece of its results is copied.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "executor/device/staging.h"
#include "executor/loop/batch_order.h"
#include "executor/loop/loop.h"
#include "executor/loop/pieces.h"
#include "executor/loop/staging_plan.h"
#include "executor/overlap.h"
#include "executor/rows/ranges.h"

namespace hopscope::executor {

class Flow {
public:
    // `ranges` contains the destinations to be computed, in ascending order; `order` takes the finished batches.
    Flow(Session& session, const LoopProgram& program, LoopSizer& sizer, BatchOrder& order, Ranges ranges);
    ~Flow();
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    void run();

private:
    struct Slot;
    using Slots = std::deque<Slot*>;

    // These run on the preparing thread.
    void prepareAll();
    void prepare(Slot& slot, std::int64_t position);
    bool stage(Slot& slot, const Destinations& destinations);
    bool tooFull(Slot& slot);
    void give(Slot& slot);

    // These run on the calling thread.
    void drive();
    Slot* nextPrepared();
    bool launch(Slot& slot);
    void queue(Slot& slot);
    void queueUpload(Slot& slot);
    void queueDownload(Slot& slot);
    void startDraining(Slot& slot);
    void drainMeanwhile();
    void retire();
    void accountWritten();
    void redo(Slot& slot);
    static void leave(Slot& slot);
    void release(Slot& slot);
    void endBlock(Slot& slot);
    void times(Slot& slot);
    double secondsAt(const c10::Event& event) const;

    // These run on the writing thread.
    void writeAll();
    bool write(Slot& slot);

    template <class Work>
    void guarded(Work&& work);
    void stopThreads();
    void leaveAll();

    Session& m_session;
    LoopSizer& m_sizer;
    BatchOrder& m_order;
    DestinationOrder m_all;
    Ranges m_ranges;
    std::vector<std::int64_t> m_starts;  // the position of each range's first destination
    std::int64_t m_count;                // destinations of all ranges, which their positions number
    std::vector<std::unique_ptr<Slot>> m_slots;
    Slots m_underWay;            // of the calling thread
    std::size_t m_mostUnderWay;  // less after a tile ran out of memory
    bool m_tiled, m_fixed;       // batches are tiles; their sizes are not for this loop to choose
    c10::Event m_anchor;
    double m_anchorSeconds = 0;
    std::int64_t m_accounted = 0;  // destinations
    // Used by the preparing thread: the share of its slot's memory that a row of the last batch took; before the first
    // one, the share without rows that batches share.
    double m_fullnessPerRow;
    BatchRowLimits m_limits;
    std::atomic<std::int64_t> m_numbers = 0;  // row numbers that were made

    std::mutex m_mutex;  // protects all following members
    // One for each thread: a batch can be too short to wake idle threads for it.
    std::condition_variable m_mayPrepare, m_mayWrite;
    std::condition_variable_any m_mayDrive;
    Slots m_free, m_prepared, m_toWrite, m_written;
    std::int64_t m_next = 0;    // the position of the first destination that no slot contains
    std::uint64_t m_epoch = 0;  // incremented when prepared batches are discarded
    bool m_ending = false;
    std::exception_ptr m_failure;
    std::vector<std::jthread> m_threads;
};

}  // namespace hopscope::executor

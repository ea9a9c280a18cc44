#pragma once

// Private to executor: the batches of a loop on a GPU, several under way at once.
//
//   preparing thread   builds blocks and gathers rows into pinned memory, ahead of the others
//   calling thread     queues copies and operators, and waits for the oldest batch; the only one that calls the device
//   writing thread     takes finished rows to their stores
//
// A batch stands in a slot of the ring, which goes round: free, prepared, under way, to be written, written. There are as
// many slots as threads can use, so that each waits for the slowest and memory is bounded. Three batches are under way on
// the device: while one is computed the next one is copied in and the one before is copied out.

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "executor/loop.h"
#include "executor/overlap.h"
#include "executor/staging.h"

namespace hopscope::executor {

class Flow {
public:
    Flow(Session& session, const LoopProgram& program, LoopSizer& sizer, LoopBooks& books);
    ~Flow();
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    void run();

private:
    struct Slot;
    using Slots = std::deque<Slot*>;

    // On the preparing thread.
    void prepareAll();
    void prepare(Slot& slot, std::int64_t first);
    bool stage(Slot& slot, const Destinations& destinations);

    // On the calling thread.
    void drive();
    Slot* nextPrepared();
    bool launch(Slot& slot);
    void queue(Slot& slot);
    void retire();
    void accountWritten();
    void redo(Slot& slot);
    void release(Slot& slot);
    void times(Slot& slot);
    double secondsAt(const c10::Event& event) const;

    // On the writing thread.
    void writeAll();

    template <class Work>
    void guarded(Work&& work);
    void stopThreads();

    Session& m_session;
    LoopSizer& m_sizer;
    LoopBooks& m_books;
    DestinationOrder m_all;
    std::vector<std::unique_ptr<Slot>> m_slots;
    Slots m_underWay;  // of the calling thread
    c10::Event m_anchor;
    double m_anchorSeconds = 0;
    std::int64_t m_accounted = 0;  // destinations

    std::mutex m_mutex;  // for what follows
    std::condition_variable_any m_changed;
    Slots m_free, m_prepared, m_toWrite, m_written;
    std::int64_t m_next = 0;    // the first destination that is not in a slot
    std::uint64_t m_epoch = 0;  // grows when what has been prepared is dropped
    bool m_ending = false;
    std::exception_ptr m_failure;
    std::vector<std::jthread> m_threads;
};

// Makes the ring for the loops of a run: pinned memory that is taken once. Linear in the programs.
std::unique_ptr<StagingRing> makeRing(Session& session, const std::vector<std::vector<LoopProgram>>& programs);

}  // namespace hopscope::executor

#pragma once

// Private to executor: runs the instructions of a loop for one batch.

#include <utility>

#include "executor/batch/batch_residents.h"
#include "executor/batch/batch_results.h"
#include "executor/batch/feed.h"
#include "executor/batch/operator_times.h"
#include "executor/batch/segment_run.h"
#include "executor/batch/strip_run.h"
#include "executor/device/staging.h"
#include "executor/program/loop_program.h"
#include "executor/session/session.h"

namespace hopscope::executor {

// A batch of a loop. On a CPU, each instruction fetches its data when it is executed. On a GPU, a batch is prepared
// (`stage`, on a host thread), uploaded, computed, downloaded (all three queued by the thread that runs the plan) and
// stored (on a host thread).
class Batch {
public:
    // `window` has the same meaning as for Feed.
    Batch(Session& session, const LoopProgram& program, Block& block, const Window* window = nullptr);

    // GPU, on a host thread: copies everything that the batch needs from the host into the chunk.
    void stage(StagingChunk& chunk);
    // GPU, on a host thread, instead of stage(): returns everything that the batch needs from the host, without copying
    // it. Call arrived() before upload() with tensors on the device, in the same order.
    std::vector<HostRows> list();
    void arrived(const std::vector<at::Tensor>& there);
    // GPU: queues the copies to the device.
    void upload();
    // GPU, in a dry run, before upload(): copies the index arrays that a run would already have on the device.
    void uploadStructure();
    // Executes all instructions and rounds the rows to be stored. Nothing is stored or merged yet, so a batch that runs out
    // of memory can be redone.
    void compute();
    // GPU: queues the download of these rows into the chunk, and in a steady session also that of the contributions to
    // reductions.
    void collect(StagingChunk& chunk);
    // GPU: queues copies of rows to tables on the device, for which results do not wait.
    void keep() { m_results.keep(m_given); }
    // Returns the batch's contributions to the reductions of the loop. Merging them is a separate step, since they are
    // merged in the order of the batches, which may be computed in any order.
    Contributions takeContributions() { return std::exchange(m_contributions, {}); }
    // Writes these rows to their stores, on any thread. On a GPU the download must have finished. Returns
    // the records for the journal, if the run has one.
    std::vector<StoredPart> store() { return m_results.store(); }
    BatchResults& results() { return m_results; }
    // GPU: empties all registers; memory that queued work uses stays allocated until it is done.
    void letGo();
    // Empties all registers and discards rows and contributions.
    void clear();

    Feed& feed() { return m_feed; }
    [[nodiscard]] PhaseTimes times() const;
    // Returns the costs since the last clear(); only on a CPU.
    [[nodiscard]] const OperatorCosts& costs() const { return m_costs; }
    PhaseTimes& deviceTimes() { return m_times; }

private:
    void run(const Instruction& i);
    void read(const Instruction& i);
    void pick(const Instruction& i);
    void positions(const Instruction& i);
    void call(const Instruction& i);
    void select(const Instruction& i);
    void concat(const Instruction& i);
    void segment(const Instruction& i);
    void segment(const Instruction& i, const StripPart& part);
    void give(const Instruction& i, const StripPart& part, StripInputs& in);
    Given given(const Instruction& i);
    at::Tensor operand(const Instruction& i, const Operand& o);
    at::Tensor shapedIndex(const Instruction& i, const Operand& o);
    at::Tensor dummy(const Instruction& i, const Operand& o);
    std::optional<std::int64_t> localSize(const Instruction& i, ir::SpaceId space);
    std::int64_t requiredSize(const Instruction& i, ir::SpaceId space);
    CallContext context(const Instruction& i);
    bool reuse(const Instruction& i);
    void check(const Instruction& i, ir::ValueId value, const at::Tensor& result);
    void contributions();
    at::Tensor& reg(Register r) { return m_registers[static_cast<std::size_t>(r)]; }

    template <class Work>
    auto timed(Phase phase, Work&& work);

    Session& m_session;
    const LoopProgram& m_program;
    Block& m_block;
    Feed m_feed;
    BatchResidents m_residents;        // GPU
    std::vector<Given> m_given;        // GPU, by instruction: first on the host, then on the device
    std::vector<at::Tensor> m_listed;  // without data: what stands in m_given for what list() returned
    std::vector<at::Tensor> m_registers;
    std::vector<bool> m_owned;  // by register: an operator of this batch made the contents, which may be overwritten
    Contributions m_contributions;
    BatchResults m_results;
    PhaseTimes m_times;
    OperatorCosts m_costs;
};

// Adds contributions to the totals of reductions: all of them, or none if it throws. If other processes compute parts
// of the loop, puts the contributions into Session::apart instead.
void mergeInto(Session& session, const Contributions& contributions);
// Adds contributions to the totals even if other processes compute parts of the loop.
void mergeTotals(Session& session, const Contributions& contributions);

}  // namespace hopscope::executor

#pragma once

// Private to executor: what one run owns, around the graph's structure. Loops, batches and reductions all work on it.

#include <functional>
#include <map>
#include <unordered_map>

#include "executor/device_context.h"
#include "executor/events.h"
#include "executor/overlap.h"
#include "executor/phases.h"
#include "executor/reduce.h"
#include "executor/residents.h"
#include "executor/staging.h"
#include "executor/store.h"

namespace hopscope::executor {

class Session {
public:
    Session(Structure& graph, const analysis::Analysis& a, const plan::Plan& p, const Options& o, Observer& listener,
            std::stop_token stopToken);

    const analysis::Analysis& analysis;
    const plan::Plan& plan;
    const Options& options;
    Observer& observer;
    std::stop_token stop;
    DeviceContext device;
    Structure& structure;
    Caller caller;
    ResidentChoice choice;
    Residents residents;
    std::unordered_map<ir::ValueId, std::unique_ptr<Store>> stores;
    std::unordered_map<ir::OpId, Reducer> reducers;
    RunReport report;
    std::unique_ptr<StagingRing> ring;  // of a GPU
    Overlap overlap;                    // of the stage that is under way
    // For a dry run, when neither stores nor the prologue are there: what stands for a value; undefined: nothing does.
    std::function<at::Tensor(ir::ValueId)> standIn;
    // Not for masks: how many rows they select decides how much memory operators take.
    [[nodiscard]] bool standsIn(ir::ValueId id) const;

    // A value without rows (or a whole table of the prologue), on the executing device.
    at::Tensor whole(ir::ValueId id);
    // What such values take on the device, as its allocator counts: memory that several share counts for the first of them.
    [[nodiscard]] std::map<ir::ValueId, std::int64_t> wholeBytes() const;
    // A table with rows, on the host: an input, a parameter, a prologue value or a store.
    at::Tensor table(ir::ValueId id);
    Store& createStore(ir::ValueId id);
    void finishReduction(ir::OpId op);
    void checkStop() const;
    // A sentence for the report and whoever listens, at most once.
    void noteOnce(const std::string& sentence);
    [[nodiscard]] double seconds() const;  // since the run began
    [[nodiscard]] double began() const { return m_began; }

private:
    at::Tensor evaluateWhole(const ir::Op& op, ir::ValueId id);
    std::string storeName(ir::ValueId id) const;

    std::unordered_map<ir::ValueId, at::Tensor> m_whole;
    double m_began;
};

}  // namespace hopscope::executor

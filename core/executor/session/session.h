#pragma once

// Private to executor: holds the state of a run that its loops, batches and reductions share.

#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>

#include "executor/calls/reduce.h"
#include "executor/device/device_context.h"
#include "executor/device/phases.h"
#include "executor/device/staging.h"
#include "executor/events.h"
#include "executor/overlap.h"
#include "executor/session/residents.h"
#include "executor/stores/handed_rows.h"
#include "executor/stores/ready_results.h"
#include "executor/stores/spare_files.h"
#include "executor/stores/store.h"

namespace hopscope::executor {

// The contributions of a batch to the reductions of its loop.
using Contributions = std::vector<std::pair<ir::OpId, Contribution>>;

// All rows of a value, and their numbering.
struct Table {
    at::Tensor rows;
    Numbers numbers = Numbers::Input;
};

// On several GPUs, a run has a session for each: the first one, and others that share its stores, reducers and report.
class Session {
    struct Shared {
        std::unordered_map<ir::ValueId, std::shared_ptr<Store>> stores;
        std::unordered_map<ir::OpId, Reducer> reducers;
        RunReport report;
        std::recursive_mutex mutex;  // making one value requests others
    };

public:
    Session(Structure& graph, const analysis::Analysis& a, const plan::Plan& p, const Options& o, Observer& listener,
            std::stop_token stopToken);
    // The session of another GPU, to be used and destroyed on the calling thread. `first` must outlive it.
    Session(Session& first, const std::string& gpu);

    const analysis::Analysis& analysis;
    const plan::Plan& plan;
    const Options& options;
    Observer& observer;
    std::stop_token stop;
    const std::size_t gpus;       // of the run
    std::size_t number = 0;       // of the device among them
    std::vector<Session*> peers;  // the other GPUs, if all GPUs can copy to each other
    DeviceContext device;

private:
    std::shared_ptr<Shared> m_shared;  // destroyed before `device`, which frees pinned memory that stores have held

public:
    Structure& structure;
    Caller caller;
    ResidentChoice choice;
    Residents residents;
    std::unordered_map<ir::ValueId, std::shared_ptr<Store>>& stores;
    SpareFiles spares;
    ReadyResults ready;  // of a GPU
    // The rows that the last loop has left in memory for the next one.
    HandedOn handed;
    std::unordered_map<ir::OpId, Reducer>& reducers;
    // The contributions of the last batch if several processes compute a run, in which case nothing is merged before
    // all have finished.
    Contributions apart;
    RunReport& report;
    std::unordered_map<ir::ValueId, Rounding> roundedHere;  // stores of the current stage that exist only on the device
    plan::StageId stage{1};                                 // the current one
    std::unique_ptr<StagingRing> ring;                      // of a GPU
    Overlap overlap;                                        // of the current stage
    // For dry runs, which have neither stores nor a prologue: returns a tensor to be used in place of a value, or an
    // undefined one.
    std::function<at::Tensor(ir::ValueId)> standIn;
    // Returns whether a value is replaced in a dry run. Masks are not, because the number of selected rows affects the
    // memory.
    [[nodiscard]] bool standsIn(ir::ValueId id) const;

    // Returns a value without rows, or a whole table of the prologue, on the executing device. Thread-safe.
    at::Tensor whole(ir::ValueId id);
    // Returns the bytes of these values on the device, as counted by its allocator. Shared memory counts for the first
    // value.
    [[nodiscard]] std::map<ir::ValueId, std::int64_t> wholeBytes() const;
    // Returns a value with rows, on the host: an input, a parameter, a value of the prologue, or a store.
    Table table(ir::ValueId id);
    // Returns the same for a value that a loop reads in place.
    Table table(ir::ValueId id, const LoopProgram& program);
    // Returns the same in the order of the input; raises Internal if the value is in a different order.
    at::Tensor inputTable(ir::ValueId id);
    // Returns the numbering of a table's rows. Stores are in the order in which their nodes are computed, so that they
    // are written from the first row to the last and rows computed together are adjacent. In a run with a journal,
    // which identifies rows by their numbers in the input, and on a GPU, stores are in the order of the input.
    [[nodiscard]] Numbers numbers(ir::ValueId id) const;
    [[nodiscard]] Numbers numbers(ir::ValueId id, const LoopProgram& program) const;
    // Returns a value of the prologue in the order of an adjacency.
    at::Tensor ownedValue(ir::ValueId id, const ir::RowClass& rows);
    Store& createStore(ir::ValueId id);
    // Creates a store in a file, on any thread.
    std::shared_ptr<Store> storeInFile(ir::ValueId id, std::optional<graph::NewFile> spare = std::nullopt) const;
    [[nodiscard]] std::int64_t storeBytes(ir::ValueId id) const;
    // Returns a complete store in the order of the input: the store itself or a copy.
    std::shared_ptr<Store> inInputOrder(ir::ValueId id);
    // Returns the other processes of the run; nullptr if there are none.
    [[nodiscard]] Others* others() const { return options.journal ? options.journal->others() : nullptr; }
    [[nodiscard]] bool isOutput(ir::ValueId id) const;
    // Returns whether the store of a value is a result's file.
    [[nodiscard]] bool isPublished(ir::ValueId id) const { return isOutput(id) && numbers(id) == Numbers::Input; }
    // Returns the type of stores. Tables that stay on a GPU keep the type of their values, which are rounded all the same.
    [[nodiscard]] base::StoreType storeType() const { return options.store; }
    Reducer& reducer(ir::OpId op);  // made at the first call
    void finishReduction(ir::OpId op);
    // Takes over a value without rows that another session has computed.
    void adopt(ir::ValueId id, const at::Tensor& host);
    // Returns whether loops on GPUs are computed in tiles of fixed size, and contributions are merged on the host.
    [[nodiscard]] bool steady() const { return options.journal || gpus > 1; }
    [[nodiscard]] std::recursive_mutex& mutex() { return m_mutex; }  // also taken while the observer is notified
    void checkStop() const;
    // Adds a sentence to the notes of the report and passes it to the observer, unless the report already contains it.
    void noteOnce(const std::string& sentence);
    [[nodiscard]] double seconds() const;  // since the run began
    [[nodiscard]] double began() const { return m_began; }

private:
    at::Tensor evaluateWhole(const ir::Op& op, ir::ValueId id);
    std::string storeName(ir::ValueId id) const;
    std::shared_ptr<Store> newStore(ir::ValueId id);
    std::shared_ptr<Store> storeInSpareFile(ir::ValueId id);
    // Returns whether only this run reads the store.
    [[nodiscard]] bool staysInMemory(ir::ValueId id) const;
    [[nodiscard]] graph::Lasting lasting() const;

    std::recursive_mutex& m_mutex;  // guards the value below, the reducers and the report's notes
    std::unordered_map<ir::ValueId, at::Tensor> m_whole;
    double m_began;
};

}  // namespace hopscope::executor

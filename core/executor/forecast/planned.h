#pragma once

// Private to forecast: predicts the traffic and the memory of the loops of a plan from the graph, the shapes and a few
// small batches.

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "executor/forecast/batch_sizes.h"
#include "executor/forecast/class_counts.h"
#include "executor/forecast/compiled_loops.h"
#include "executor/forecast/held.h"
#include "executor/forecast/outside.h"
#include "executor/forecast/predict.h"
#include "executor/forecast/probe.h"
#include "executor/forecast/timing.h"
#include "executor/forecast/traffic.h"
#include "executor/loop/staging_plan.h"
#include "executor/session/residents.h"

namespace hopscope::forecast {

// The state that is kept between calls: everything that depends only on the graph, and the results for loops of earlier
// plans.
struct Known {
    Known(const analysis::Analysis& analysis, const Outside::MakeStructure& fresh, const std::string& folder,
          std::stop_token stop);

    std::unique_ptr<executor::Structure> structure;
    ClassCounts counts;
    LoopMemories memories;
    Outside outside;
    ReuseOfColumns reuse;
    CompiledLoops compiled;
};

enum class Peaks : bool { No, Yes };  // predictions of memory, for which loops are run dry

// Returns whether a run on GPUs has tiles of fixed size (executor::Session::steady).
bool isSteady(const plan::Plan& plan, const PredictOptions& options);

// A plan whose loops have been compiled as for a run. Serves a single call of the Predictor, so that the options do not
// change.
class Planned {
public:
    // All arguments must outlive this object. Linear in the plan.
    Planned(const analysis::Analysis& analysis, Known& known, const plan::Plan& plan, const PredictOptions& options,
            std::stop_token stop);

    Prediction predict(const PredictOptions& options, Peaks peaks = Peaks::Yes);
    StageMemory memoryOf(plan::StageId stage, const PredictOptions& options);
    LeastMemory leastMemory(PredictOptions options);
    plan::RowCounts countRows(const PredictOptions& options);
    std::vector<StageTime> times(const PredictOptions& options, const plan::Machine& machine, Peaks peaks = Peaks::Yes);
    // Returns whether the tables and adjacencies that the plan keeps on the GPU leave enough memory to the batches of
    // every loop: those that a run needs to be quick, or those that the user has chosen. Operators' own temporaries
    // count only with `peaks`.
    bool leavesEnough(const PredictOptions& options, Peaks peaks);
    [[nodiscard]] const executor::StagePrograms& programs() const { return m_programs; }  // on a GPU

private:
    struct PlannedLoop {
        explicit PlannedLoop(std::shared_ptr<CompiledLoop> made)
            : compiled(std::move(made)),
              program(compiled->program),
              traffic(compiled->traffic),
              memory(compiled->memory)
        {}
        std::shared_ptr<CompiledLoop> compiled;
        const executor::LoopProgram& program;
        const Traffic& traffic;
        const executor::MemoryModel& memory;
        // Destinations that memory allows in a batch; on a GPU, whose copies fit into pinned memory as well.
        std::int64_t most = std::numeric_limits<std::int64_t>::max();
        double outside = 0;  // on a GPU: bytes reserved there outside of its batches
    };
    using ClassRows = std::map<ir::RowClass, Counts>;

    void compile(const PredictOptions& options);
    void compileOnCpu(const PredictOptions& options);
    [[nodiscard]] bool gpu() const { return m_plan.device != "cpu"; }
    std::int64_t largestBatch();
    void countLoop(const PlannedLoop& l, std::int64_t most, plan::RowCounts& rows, plan::RowCounts& loops);

    enum class Probing : bool { No, Yes };  // No: by the tensors of the program, without the operators' own temporaries
    [[nodiscard]] Probing forComparison(const PredictOptions& options) const;
    // Returns the batch size of all loops; each loop may have smaller batches (sizeOf).
    std::int64_t batchSize(const PredictOptions& options, Probing probing);
    std::int64_t batchSizeOnGpu(const PredictOptions& options);
    std::int64_t fitting(const PlannedLoop& l, double allowed, Probing probing);
    std::int64_t smallestBatch(std::int64_t size);
    [[nodiscard]] static std::int64_t sizeOf(const PlannedLoop& l, std::int64_t size)
    {
        return l.program.tiling ? l.program.tiling->rows : l.program.gpuTile.value_or(std::min(size, l.most));
    }
    std::int64_t quickEnough(const PlannedLoop& l, double budget, const PredictOptions& options, Probing probing);
    void followOnGpu(Probing probing);  // sets PlannedLoop::outside
    // Whether the peak of a batch is computed from upper bounds of its numbers of rows or from their counts.
    enum class Rows : bool { Bounded, Counted };
    double memoryOf(const PlannedLoop& l, std::int64_t size, Rows rows, Probing probing);
    // Returns the peak of a loop's batches. `size` is the size of the counted batches, or 0 if upper bounds of their
    // rows were used.
    double peak(const PlannedLoop& l, const ClassRows& counts, const LoopMemory* learnt, std::int64_t size);
    const LoopMemory* learntAbout(const PlannedLoop& l);
    double bytesIn(const PlannedLoop& l, const LoopMemory* learnt, const ClassRows& counts, std::size_t batch,
                   std::int64_t size);
    std::optional<DryRun> dryRun(const PlannedLoop& l, const LoopMemory* learnt, const ClassRows& counts,
                                 std::size_t batch, std::int64_t size);

    PredictedStage stage(std::size_t at, std::int64_t size);
    void addLoop(PredictedStage& result, const PlannedLoop& l, std::int64_t most);
    void addTraffic(PredictedStage& result, const PlannedLoop& l, std::int64_t size);
    void addMemory(PredictedStage& result, const PlannedLoop& l, const Counts& own, std::int64_t size);

    LoopHoldings holdings(const PlannedLoop& l, std::int64_t most);

    Timing timing(const PlannedLoop& l, std::int64_t size, const WallTable& walls);
    Timing timed(const PlannedLoop& l, std::int64_t rows, const WallTable& walls);

    // Returns the memory held outside of batches before the first stage. The functions below follow it through a stage.
    double baseline(bool staysBeside, Probing probing);
    [[nodiscard]] std::vector<const executor::LoopProgram*> programsOf() const;  // of all loops
    void prepares(const PlannedLoop& l, Probing probing);
    void reduces(const PlannedLoop& l);

    const analysis::Analysis& m_analysis;
    Known& m_known;
    executor::Structure& m_structure;
    ClassCounts& m_counts;
    std::optional<plan::Plan> m_whole;  // the plan without tables that a run does not divide, if it has any
    const plan::Plan& m_plan;
    executor::ResidentChoice m_choice;
    std::stop_token m_stop;
    executor::StagePrograms m_programs;  // on a GPU
    std::vector<std::vector<PlannedLoop>> m_loops;
    std::optional<Held> m_held;
    bool m_peaks = true, m_eachBatch = false;
};

// Implements Predictor::keepOnDevice.
plan::Plan keepOnGpu(const analysis::Analysis& analysis, Known& known, plan::Plan plan, const PredictOptions& options,
                     std::stop_token stop);

}  // namespace hopscope::forecast

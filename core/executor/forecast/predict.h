#pragma once

// Predicts the traffic, the memory and the time of a plan from the plan, the shapes and the graph, without running it.
// Also chooses the tables that stay on a GPU. Traffic and frontier rows are exactly those that a run with the same
// batches reports; runs on a CPU use these batches (PredictedStage::sizes). Memory is extrapolated from a dry run of a
// few small batches of each loop. On a CPU, a batch with few rows is run dry itself if it has a single destination, or
// if its loop cannot be extrapolated. Memory is usually exact as well, except for the unused parts of larger blocks on
// a GPU. If no dry run is possible, for instance because an operator does not accept zeros as operands, memory is
// estimated from the liveness of values.

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "base/store_type.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/batch_step.h"
#include "plan/figures.h"
#include "plan/machine.h"
#include "plan/plan.h"
#include "plan/row_counts.h"

namespace hopscope::executor {
class Structure;
}

namespace hopscope::forecast {

struct PredictedStage : plan::StagePrediction {  // `seconds` stays 0; see StageTime
    plan::StageId index{1};
    std::int64_t hostReads = 0;  // bytes that a GPU's kernels read from the host
    std::int64_t outside = 0;    // the part of peakMemory that is held outside of batches
    plan::Bytes loaded;          // the part of `bytes` that is copied once, to stay on a GPU
    bool estimated = false;      // peakMemory is an estimate, since the dry run of some loop was not sufficient
    std::map<ir::ValueId, std::int64_t> read;  // of bytes.h2d, by value
    // The number of destinations in batches that fit, by loop, for a run to use. It is nullopt if the run finds the
    // number itself: in tiles, on a GPU, and if memory was not extrapolated.
    std::vector<std::optional<std::int64_t>> sizes;
    std::vector<std::int64_t> batchPeaks;  // the peak of each batch, loop by loop, if PredictOptions::eachBatch
};

// The predicted time of a stage, and its lower bound on this machine.
struct StageTime {
    plan::StageId index{1};
    double seconds = 0;
    double boundSeconds = 0;  // docs/reference/format-report.md defines it
    plan::Wall wall = plan::Wall::Stream;
    // Empty unless pipeline::forecastOf() fills it: the part of `seconds` that the cost model assigns to computing and
    // storing the results of each operator. Reading stored rows and the graph's structure belong to no operator.
    std::map<ir::OpId, double> operators{};
};

struct Prediction {
    // Destinations per batch: as requested, or as many as fit into memory in the loop that needs the most memory. Loops
    // in tiles do not count.
    std::int64_t batch = 0;
    std::vector<PredictedStage> stages;
    std::map<ir::ValueId, std::int64_t> stored;  // the size of each stored value
    // Returns PredictedStage::sizes of all stages.
    [[nodiscard]] std::vector<std::vector<std::optional<std::int64_t>>> sizes() const;
};

// A lower bound of the memory that is held at some point.
struct LeastMemory {
    plan::StageId stage{1};     // the stage that needs the most memory
    std::int64_t bytes = 0;     // the memory of a batch of one destination, without the operators' own temporaries
    std::int64_t prologue = 0;  // the memory held at the peak of the prologue, on a CPU
};

// The predicted traffic, memory and time of a plan.
struct Forecast {
    Prediction prediction;
    std::vector<StageTime> times;
    double diskRead = 0;                   // bytes/s, for stages whose tables do not fit into memory; 0: unknown
    [[nodiscard]] double seconds() const;  // of all stages
};

struct HeldStep {
    plan::BatchStep kind = plan::BatchStep::Operator;
    ir::OpId op;                    // Operator
    std::vector<ir::OpId> fused{};  // computed with it, in one pass
};

// Rows that a batch holds from one step to another.
struct Holding {
    ir::ValueId value;  // invalid: row numbers
    ir::RowClass rows;
    std::int64_t bytes = 0;               // bytes that it adds: 0 for a view, and for rows that are used in place
    std::size_t from = 0, to = 0;         // the step that creates it, and the first one after its end
    std::optional<std::size_t> over{};    // the holding whose memory it overwrites
    std::optional<std::size_t> viewOf{};  // the holding that it is a part of
    bool inPlace = false;                 // rows of a table, used in place
};

struct LoopHoldings {
    ir::SpaceId destination;
    // Of the batch with the highest peak among the largest ones, and the number of batches.
    std::int64_t destinations = 0, batches = 0;
    int sideBySide = 1;  // batches (tiles) that are computed in parallel, each with memory of its own
    std::vector<HeldStep> steps{};
    std::vector<Holding> held{};        // in the order of their creation
    std::vector<std::int64_t> bytes{};  // at each step
    std::size_t peakStep = 0;           // the step with the highest number of bytes
    [[nodiscard]] std::int64_t peak() const { return bytes.empty() ? 0 : bytes[peakStep]; }
};

// The memory of a stage's batches over time. Operators need memory of their own besides their operands and results;
// only the peak in `predicted` includes it, provided that a dry run was possible.
struct StageMemory {
    PredictedStage predicted;
    std::vector<LoopHoldings> loops;
};

struct PredictOptions {
    std::optional<std::int64_t> batch;  // nullopt: all destinations of a type, or as many as fit
    std::optional<std::int64_t>
        memory;                // limit in bytes on the device; nullopt: the share of free memory that a run uses
    bool eachBatch = false;    // also return the peak of every batch
    bool staysBeside = false;  // the plan will run in this process during the lifetime of the predictor
    std::optional<std::int64_t> tile{};  // as executor::Options::tile
    std::vector<base::Fuse> fuse{base::Fuse::Chain, base::Fuse::Softmax, base::Fuse::Several};  // likewise
    base::StoreType store = base::StoreType::Exact;                                             // likewise
    bool journal = false;  // a run on a GPU then has tiles of fixed size, writes all stores, and divides no table
};

// Predicts plans for the same model and data, and caches what depends only on the graph. The first call can go through
// all edges that the model uses, as can a call with a new batch size or new frontiers.
class Predictor {
public:
    // The first three arguments must outlive the predictor. Large arrays are in scratch memory or in unlinked files
    // in `folder`; `cache` has the same meaning as executor::Options::cache.
    Predictor(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
              std::string folder, std::string cache = {});
    ~Predictor();
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;

    // Predicts a plan. Fails with Input (inputs disagree with the schema), Resources, Cancelled, or Internal (the
    // executor would refuse the plan). A failure empties the cache.
    base::Result<Prediction> predict(const plan::Plan& plan, const PredictOptions& options, std::stop_token stop);

    // Does the same without peaks of memory, which need a dry run of each loop. This is for comparing many plans by
    // bytes.
    base::Result<Prediction> predictTraffic(const plan::Plan& plan, const PredictOptions& options,
                                            std::stop_token stop);

    // Returns the memory of a stage's batches, step by step. Fails like predict(), and with Usage if the plan has no
    // such stage.
    base::Result<StageMemory> memoryOf(const plan::Plan& plan, plan::StageId stage, const PredictOptions& options,
                                       std::stop_token stop);

    // Returns a lower bound of the memory that the plan needs. Ignores the batch size in `options`. Fails like
    // predict().
    base::Result<LeastMemory> leastMemory(const plan::Plan& plan, const PredictOptions& options, std::stop_token stop);

    // Chooses the tables that stay on the GPU, in place of those in the plan: those that save the most copying relative
    // to their size, each from its first use to its last, in all memory that batches do not need. The adjacencies stay
    // as well if that leaves room for any table. In a plan for a CPU, nothing stays. Fails like predict().
    base::Result<plan::Plan> keepOnDevice(plan::Plan plan, const PredictOptions& options, std::stop_token stop);

    // Checks the inputs as executor::Structure::checkGuards() does. Fails with Input if they do not pass, and like
    // predict().
    base::Status checkGuards(std::stop_token stop);

    // Returns the numbers of rows of the tables, and of frontier rows and batches in the plan's loops. Batches have
    // about the size that predict() uses. Fails like predict().
    base::Result<plan::RowCounts> countRows(const plan::Plan& plan, const PredictOptions& options,
                                            std::stop_token stop);

    // Returns the seconds of forecast() in the batches of countRows(), on a CPU without a dry run of each loop. This is for
    // comparing plans. Fails like predict().
    base::Result<double> seconds(const plan::Plan& plan, const PredictOptions& options, const plan::Machine& machine,
                                 std::stop_token stop);

    // Hands the structure of the graph over to a run, as far as it has been built; nullptr if there is none. The
    // predictor then starts without one.
    std::shared_ptr<executor::Structure> takeStructure();
    // Returns the result of predict(), and the seconds of the stages in its batches. Fails like predict().
    base::Result<Forecast> forecast(const plan::Plan& plan, const PredictOptions& options, const plan::Machine& machine,
                                    std::stop_token stop);

private:
    struct Kept;
    template <class Work>
    auto guarded(std::stop_token stop, Work&& work) -> base::Result<decltype(work(std::declval<Kept&>()))>;

    const loader::Walk& m_walk;
    const analysis::Analysis& m_analysis;
    const base::TensorMap& m_inputs;
    std::string m_folder, m_cache;
    std::unique_ptr<Kept> m_kept;
};

}  // namespace hopscope::forecast

#pragma once

// What a plan moves and how much it holds, without running it: from the plan, the shapes and the graph. Bytes and frontier
// rows are those that a run with these batches reports, to the byte. Memory follows from what a few small batches of each
// loop take from the device's allocator, mostly to the byte too (on a GPU to what its allocator leaves of larger blocks);
// where those do not explain it, as where an operator asks for other numbers than zeros, it is an estimate from the liveness
// of values.

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "plan/row_counts.h"

namespace hopscope::forecast {

struct PredictedStage {
    int index = 1;
    std::int64_t batches = 0, destinations = 0, frontierRows = 0;
    plan::Bytes bytes;  // rows written, rows read, structure
    std::int64_t peakMemory = 0;
    bool estimated = false;  // peakMemory is an estimate: small batches of some loop did not explain it
    std::map<ir::ValueId, std::int64_t> read;  // of `bytes`, by value
    std::vector<std::int64_t> batchPeaks;      // if asked for: loops in order, then batches
};

struct Prediction {
    std::int64_t batch = 0;  // destinations per batch: what was asked for, or what fits
    std::vector<PredictedStage> stages;
};

struct PredictOptions {
    std::optional<std::int64_t> batch;   // none: all destinations of a type at once, or what fits
    std::optional<std::int64_t> memory;  // bytes on the executing device; none: what a run takes of what is free
    bool eachBatch = false;              // the peak of every batch, too
    bool staysBeside = false;            // the predictor will still be there when the plan runs in this process
};

// Keeps what follows from the graph alone between calls: the first call is linear in the edges that the model uses, and so
// is each one with another batch size or other frontiers; all others cost as much as the plan is long.
class Predictor {
public:
    // All three must outlive it. Large arrays are mapped from unlinked files in `folder`.
    Predictor(const loader::Walk& walk, const analysis::Analysis& analysis, const base::TensorMap& inputs,
              std::string folder);
    ~Predictor();
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;

    // Fails with Input (inputs disagree with the schema), Resources, Cancelled, and Internal for a plan that the executor
    // would refuse. A failed call forgets what was kept.
    base::Result<Prediction> predict(const plan::Plan& plan, const PredictOptions& options, std::stop_token stop);

    // The plan with the tables, and the structure, that are to stay on its GPU: those that save the most copying for the
    // memory that they take, as long as they leave half of it to batches. On a CPU, the plan. Fails as `predict` does.
    base::Result<plan::Plan> keepOnDevice(plan::Plan plan, const PredictOptions& options, std::stop_token stop);

    // Whether the model takes the branches on these inputs that it took on the sample; fails with Input where it does not.
    base::Status checkGuards(std::stop_token stop);

    // The rows that the loops of this plan work on, in batches of the size that `predict` takes. Fails as `predict` does.
    base::Result<plan::RowCounts> countRows(const plan::Plan& plan, const PredictOptions& options,
                                            std::stop_token stop);

private:
    struct Kept;
    template <class Work>
    auto guarded(std::stop_token stop, Work&& work) -> base::Result<decltype(work(std::declval<Kept&>()))>;

    const loader::Walk& m_walk;
    const analysis::Analysis& m_analysis;
    const base::TensorMap& m_inputs;
    std::string m_folder;
    std::unique_ptr<Kept> m_kept;
};

}  // namespace hopscope::forecast

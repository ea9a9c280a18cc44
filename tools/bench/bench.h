#pragma once

// The commands of hopscope-bench. Each prints one JSON document.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "bench/sage.h"
#include "pipeline/options.h"
#include "json/json.h"

namespace hopscope::bench {

struct Outcome {
    json::Value document;
    int code = 0;  // an ErrorCode where a result is wrong or missing
};

struct RunOptions {
    std::int64_t nodes = 1'000'000, edges = 16'000'000;
    SageShape shape;
    base::Settings settings{.device = "cpu", .memory = std::int64_t(1) << 30, .reorder = base::Reorder::None};
    std::vector<double> scale;  // once more with so many times the nodes and edges, each
    std::int64_t targets = 64;  // sampled destinations; 0: no sampled verification
    bool noReference = false;
    std::string folder;  // where graph and model stay, and are taken from; empty: a temporary one
};

// Runs a GraphSAGE (mean, root weight, ReLU between layers) on a generated RMAT graph of each size, within the memory limit. A child
// process verifies sampled destinations against the module itself, and an independent evaluation in float64 verifies every
// row; the code is Different where one of them finds a difference. The document has
//     options
//     cases    for each size the report of the run (docs/reference/format-report.md) with nodes, edges, prepare_seconds, nodes_per_second,
//              edges_per_second (of all layers together), anonymous_before and anonymous_peak (memory of this process before
//              and during the run), shares (of the phases) and reference
//     scaling  for each case but the first its ratios to the first: nodes, time, bound, and over_bound, which is time / bound
//              and 1 for a run that grows like its products and reads
base::Result<Outcome> run(const RunOptions& options);

struct PlansOptions {
    pipeline::ModelOptions model;
    base::Settings settings;
    int repeat = 3;
};

// Makes the plans that are optimal in time and in bytes, and those of the two rules, and runs each `repeat` times, without
// verification. The plans take turns, so that a machine that slows down slows down all of them, and the best run counts. The
// document has "plans", with predicted and measured figures of each stage, and "ranking_holds": no plan that was predicted to be
// faster was slower by more than a tenth. The code is Different where a run with the predicted batches did not move the
// predicted bytes.
base::Result<Outcome> plans(const PlansOptions& options);

struct PlaceOptions {
    std::string file, caseId, strategy = "optimal";  // without a case: all of the file
    bool minCut = false;                             // also the min-cut relaxation
    double deadline = 60;                            // seconds per instance
};

// Solves abstract placement instances; docs/reference/placement-instance.md describes the document. The code is Unsupported where an instance
// has no legal plan.
base::Result<Outcome> place(const PlaceOptions& options);

// The program: reads the command line, carries it out, prints. Gives the exit code. Verifications start it again as their oracle.
int benchMain(int count, char** arguments);

}  // namespace hopscope::bench

#pragma once

// `bench run`: the main job at a size that people recognise, with proof and with the phases' shares, in one process and
// one report, so that its figures can be compared as ratios.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "schema/report.h"

namespace hopscope::engine {

struct BenchRunOptions {
    std::int64_t nodes = 1'000'000;
    std::int64_t edges = 16'000'000;
    std::int64_t features = 100;
    std::int64_t hidden = 128;
    std::int64_t outputs = 47;
    int layers = 3;
    std::uint64_t seed = 1;
    std::int64_t memory = std::int64_t(1) << 30;  // of the executing device
    std::string device = "cpu";                   // "auto" allowed
    std::optional<std::int64_t> batch;            // none: by memory
    std::vector<double> scale;                    // once more with so many times the nodes and edges, each
    std::int64_t targets = 64;                    // sampled destinations; 0: no sampled verification
    bool reference = true;                        // all rows against the float64 reference
    std::string folder;  // graph and model files; reused if already there. Empty: a temporary one
    bool keep = false;   // do not remove what was written to `folder`
};

struct BenchReference {  // all rows against float64
    bool equal = false;
    schema::TensorRecord error;
    double seconds = 0;
    std::int64_t peakMemory = 0;  // of the child
};

struct BenchCase {  // one size
    std::int64_t nodes = 0, edges = 0;
    schema::Report run;
    double prepareSeconds = 0;         // load, read, infer roles, walk, analyse, plan
    std::int64_t anonymousPeak = 0;    // resident anonymous memory of this process while the plan ran
    std::int64_t anonymousBefore = 0;  // ... and when it started
    std::optional<schema::Verification> sampled;
    std::optional<BenchReference> reference;
};

// A k-layer GraphSAGE (mean, root weight, relu between) on a generated RMAT graph: generates or reuses the graph, writes
// the TorchScript file, runs it layer by layer under the memory limit, verifies it on sampled destinations against the
// module itself and on every row against an independent float64 evaluation, both in child processes. A case for each
// size; a difference is a finding, not an error.
base::Result<std::vector<BenchCase>> benchRun(const BenchRunOptions& options, const base::ProgressFn& progress,
                                              std::stop_token stop);

}  // namespace hopscope::engine

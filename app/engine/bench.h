#pragma once

// `bench run`: the main job at a size that people recognise, with proof and with the phases' shares, in one process and
// one report, so that its figures can be compared as ratios.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/progress.h"
#include "base/result.h"

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
    std::int64_t scale = 0;                       // > 1: once more with scale x the nodes and edges, and the time ratio
    std::int64_t targets = 64;                    // sampled destinations; 0: no sampled verification
    bool reference = true;                        // all rows against the float64 reference
    std::string folder;  // graph and model files; reused if already there. Empty: a temporary one
    bool keep = false;   // do not remove what was written to `folder`
    bool json = false;   // one JSON document on stdout instead of a table
};

// A k-layer GraphSAGE (mean, root weight, relu between) on a generated RMAT graph: generates or reuses the graph, writes
// the TorchScript file, runs it layer by layer under the memory limit, verifies it on sampled destinations against the
// module itself and on every row against an independent float64 evaluation, both in child processes, and prints the
// report. Returns the process exit code: 0, or 5 if a verification failed; errors as everywhere.
base::Result<int> benchRun(const BenchRunOptions& options, const base::ProgressFn& progress, std::stop_token stop);

}  // namespace hopscope::engine

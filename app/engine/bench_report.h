#pragma once

// What `bench run` found, as JSON and as a table.

#include <optional>
#include <string>
#include <vector>

#include "bench.h"
#include "schema/report.h"
#include "session.h"

namespace hopscope::engine {

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

// True if nothing that was checked came out different.
bool allVerified(const std::vector<BenchCase>& cases);

// Keys: "options", "cases" (nodes, edges, seconds, stages with phases and their shares, nodes_per_second,
// edges_per_second (of all layers together), anonymous_peak, verify, reference), "time_ratio" (second case over first).
std::string benchJson(const BenchRunOptions& options, const std::vector<BenchCase>& cases);
std::string benchText(const BenchRunOptions& options, const std::vector<BenchCase>& cases, const Style& style);

}  // namespace hopscope::engine

#pragma once

// What `bench run` found, as JSON.

#include <optional>
#include <string>
#include <vector>

#include "bench/run.h"

namespace hopscope::engine {

// True if nothing that was checked came out different.
bool allVerified(const std::vector<BenchCase>& cases);

// Keys: "options", "cases" (nodes, edges, seconds, stages with phases and their shares, nodes_per_second,
// edges_per_second (of all layers together), anonymous_peak, verify, reference), "time_ratio" (second case over first),
// "scaling" (see Scaling, for each case but the first).
// How a case compares with the first one.
struct Scaling {
    double nodes = 0;                 // times as many
    double time = 0;                  // times as long
    std::optional<double> bound;      // times as high: what `bench machine` says the work takes at least
    std::optional<double> overBound;  // time / bound: 1 is a run that grows like its products and reads
};
std::vector<Scaling> scalingOf(const std::vector<BenchCase>& cases);

std::string benchJson(const BenchRunOptions& options, const std::vector<BenchCase>& cases);

double perSecond(double count, double seconds);                          // 0 where no time passed
double edgeRate(const BenchRunOptions& options, const BenchCase& item);  // edges of all layers, per second
double timeRatio(const std::vector<BenchCase>& cases);                   // 0 where there is one case only

}  // namespace hopscope::engine

#pragma once

// The optimiser: the cheapest placement, with proof.
//
//     Options options;
//     options.deadlineSeconds = 5;
//     options.onImprovement = [](const Answer& better) { show(better); };
//     const base::Result<Answer> answer = solve(instance, options);
//
// Optimality-preserving reductions come first: values that need never be stored, chains that are fused into one value.
// The baselines and a local search provide a first valid plan; integer programs that allow more and more recomputation
// improve it, each starting from the best plan so far; the linear relaxation of the full program bounds it from below.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimiser/placement.h"

namespace hopscope::optimiser {

using base::Strategy;

enum class Status : std::uint8_t {
    Optimal,     // proven: no legal placement is cheaper (relative tolerance 1e-6)
    Feasible,    // legal; the gap bounds the saving of any other placement
    Infeasible,  // proven: pins, stages and budget leave no legal placement
};
const char* statusName(Status status);  // "optimal", "feasible", "infeasible"

struct Answer {
    Status status = Status::Infeasible;
    Placement placement;    // empty where infeasible
    double lowerBound = 0;  // of the cost of every legal placement
    double gap = 0;         // (cost - lowerBound) / cost; 0 where optimal
    std::string found;      // the method that found the placement: "depth", "local search", "recompute 2", ...
};

struct Options {
    Strategy strategy = Strategy::Optimal;
    double deadlineSeconds = std::numeric_limits<double>::infinity();
    std::stop_token stop;
    // Called on the calling thread with every cheaper plan or higher bound, the first valid plan first.
    std::function<void(const Answer&)> onImprovement;
    const Placement* incumbent = nullptr;  // a legal plan to start from; others are ignored
    bool reduce = true;                    // off: the program of the whole instance, to compare with
    bool solver = true;                    // off: as if built without HiGHS
    bool search = true;                    // off: no baselines and no local search, only the programs
    // Ends with a good plan rather than the best one: local search and the program with all recomputation, which take
    // longest, follow only if the rules and the smaller programs have found none.
    bool brief = false;
    std::shared_ptr<std::int64_t> iterations = nullptr;  // of the smaller programs, see solver::Limits
};

// Ends with a proof, at the deadline or when stopped, then with the best plan so far. Strategies Depth and SourceRule give
// the baselines (pins and budget are ignored); LocalSearch never uses the solver. Fails with Unsupported where a
// baseline is not executable, or where no legal plan was found and none could be excluded (no solver); with Cancelled
// when stopped, or with Resources at the deadline, before any plan was found.
base::Result<Answer> solve(const Instance& instance, const Options& options = {});

// The smallest hostPeak that a legal placement can have; the instance's own budget is ignored. Fails with Unsupported
// without a solver or where there is no legal placement; with Resources at the deadline.
base::Result<double> minimalHostPeak(const Instance& instance, double deadlineSeconds = 60,
                                     const std::stop_token& stop = {});

}  // namespace hopscope::optimiser

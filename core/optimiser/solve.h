#pragma once

// The optimiser: finds the cheapest placement, with a proof if time suffices.
//
//     Options options;
//     options.deadlineSeconds = 5;
//     options.onImprovement = [](const Answer& better) { show(better); };
//     const base::Result<Answer> answer = solve(instance, options);
//
// Reductions that preserve optimality come first: they find values that need never be stored, and fuse chains into one
// value. The baselines and a local search provide a first valid plan; integer programs that allow more and more
// recomputation improve it, each starting from the best plan so far; the last program, which allows all recomputation,
// bounds its cost from below.

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
    Feasible,    // legal; the gap bounds what any other placement can save
    Infeasible,  // proven: pins, stages and budget leave no legal placement
};
const char* statusName(Status status);  // "optimal", "feasible", "infeasible"

struct Answer {
    Status status = Status::Infeasible;
    Placement placement;    // empty if infeasible
    double lowerBound = 0;  // of the cost of every legal placement
    double gap = 0;         // (cost - lowerBound) / cost; 0 if optimal
    // The method that found the placement: "depth", "source-rule", "previous plan", "local search", "recompute 1",
    // "recompute 2", "unlimited recomputation", "local re-optimisation" or "repair".
    std::string found;
};

struct Options {
    Strategy strategy = Strategy::Optimal;
    double deadlineSeconds = std::numeric_limits<double>::infinity();
    std::stop_token stop;
    // Called on the calling thread with every cheaper plan or higher bound, the first valid plan first.
    std::function<void(const Answer&)> onImprovement;
    const Placement* incumbent = nullptr;  // a plan to start from; ignored if it is not legal
    bool reduce = true;                    // false: solves the program of the whole instance, for comparison
    bool solver = true;                    // false: as if built without HiGHS
    bool search = true;                    // false: no baselines and no local search, only the programs
    // Returns a good plan rather than the best one. Local search and the program with all recomputation, which take
    // longest, only run if the rules and the smaller programs have found no plan.
    bool brief = false;
    std::shared_ptr<std::int64_t> iterations = nullptr;  // of the smaller programs, see solver::Limits
};

// Returns a proven answer if it can, and otherwise the best plan that was found: at the deadline, when stopped, with
// `brief`, or without a solver. Rules return the baselines, which ignore pins and budget; LocalSearch never uses the
// solver. Fails with Unsupported if a baseline is not executable, or if, without a solver, no legal plan was found
// although one may exist. Fails with Cancelled if stopped, and with Resources at the deadline, before any plan was
// found.
base::Result<Answer> solve(const Instance& instance, const Options& options = {});

// Returns the smallest hostPeak that a legal placement can have; the instance's own budget is ignored. Fails with
// Unsupported without a solver or if there is no legal placement, with Resources at the deadline, and with Cancelled if
// stopped.
base::Result<double> minimalHostPeak(const Instance& instance, double deadlineSeconds = 60,
                                     const std::stop_token& stop = {});

}  // namespace hopscope::optimiser

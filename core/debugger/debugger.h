#pragma once

// Finds the operators at which numbers become wrong: the first at which two computations differ, or all that produce NaN
// or infinities. Also records hits of breakpoints, and rows and messages of watched nodes.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "base/progress.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "plan/plan.h"
#include "schema/findings.h"
#include "schema/report.h"

namespace hopscope::debugger {

// A model with its inputs. All referenced objects must outlive the results.
struct Subject {
    const loader::Walk* walk = nullptr;
    const analysis::Analysis* analysis = nullptr;
    const base::TensorMap* inputs = nullptr;
    std::string name;
};

struct Settings {
    schema::ToleranceRecord tolerance;
    std::string folder;                 // for scratch files and stores
    std::optional<std::int64_t> batch;  // destinations; nullopt: 65,536
    base::ProgressFn progress;
};

// Compares two models on their inputs, operator by operator on whole tensors. Needs the memory of both unsplit models
// at the same time. Operators correspond if they are of the same kind in the same module, in order. Results that
// are sparse, or follow from weights and literals alone, are not compared; parameters of the same name are, exactly.
base::Result<schema::DivergenceRecord> compareModels(const Subject& first, const Subject& second,
                                                     const Settings& settings, std::stop_token stop);

// Compares the staged run of a plan with the same program on whole tensors: values with rows of nodes, in the order in
// which the stages compute them. `staged`: the inputs of the run, which are those of the subject except in tests. Needs
// memory for all these values; fails with Resources if there is too little.
base::Result<schema::DivergenceRecord> compareStaged(const Subject& subject, const plan::Plan& plan,
                                                     const base::TensorMap& staged, const Settings& settings,
                                                     std::stop_token stop);

// Runs the plan and finds the operators that produce NaN or infinities. The report tells those that reach an output from
// the others: GCN computes infinities for isolated nodes, and replaces them.
base::Result<schema::NonFiniteReport> huntNonFinite(const Subject& subject, const plan::Plan& plan,
                                                    const Settings& settings, std::stop_token stop);

enum class Condition : std::uint8_t { Always, NotFinite, OutsideRange, Node };

struct Breakpoint {
    std::string
        place;  // "op42", "v17", a value's name, a kind ("aten::relu"), a module ("convs.1"), "stage 2"; empty: all
    Condition condition = Condition::Always;
    double least = 0, most = 0;  // for OutsideRange
    std::int64_t node = -1;      // for Node: a row number in the table of the batch's destinations
};

struct WatchRequest {
    std::vector<Breakpoint> breakpoints;
    std::size_t hits = 20;                  // number of hits described in full; the others are counted
    std::vector<std::string> values;        // as Breakpoint::place, but no stages; only rows that stages compute
    std::vector<std::int64_t> nodes;        // rows of the values' tables
    std::string output;                     // folder for VALUE.npy, one row for each node; empty: no files
    std::vector<std::string> aggregations;  // as `values`; their messages into `nodes` are recorded
};

// Runs the plan, and records hits of breakpoints, rows of values and contributions of messages. Fails with Usage if a
// place names no operator; a breakpoint may also name a stage. At least one value that an entry of `values` names must
// have rows that a stage computes, and an entry of `aggregations` must name an operator that aggregates messages.
base::Result<schema::WatchReport> watch(const Subject& subject, const plan::Plan& plan, const WatchRequest& request,
                                        const Settings& settings, std::stop_token stop);

}  // namespace hopscope::debugger

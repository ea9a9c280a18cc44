#pragma once

// Solves abstract placement instances (docs/placement-instance.md).

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimiser/infeasible_subset.h"
#include "pipeline/reporter.h"
#include "json/json.h"

namespace hopscope::pipeline {

struct PlaceOptions {
    std::string file;
    std::string caseId;  // empty: all of the file
    base::Strategy strategy = base::Strategy::Optimal;
    bool minCut = false;   // also the min-cut relaxation
    double deadline = 60;  // seconds per instance
};

// One instance and what came of it.
struct Placed {
    optimiser::Instance instance;
    optimiser::Answer answer;
    optimiser::InfeasibleSubset conflict;  // of an infeasible instance, where the solver could find it
    json::Value minCut;                    // null unless it was requested
};

// The instances of a document, or the one with this id. Fails with Input where there is none, or two with one id.
base::Result<std::vector<optimiser::Instance>> chooseInstances(const json::Value& document,
                                                               const PlaceOptions& options);

// Fails as optimiser::solve(), naming the instance.
base::Result<Placed> placeOne(const optimiser::Instance& instance, const PlaceOptions& options, std::stop_token stop);

// Those of the file, or the one that is asked for. Fails with Input, and as placeOne().
base::Result<std::vector<Placed>> place(const PlaceOptions& options, Reporter& reporter, const std::stop_token& stop);

json::Value placedDocument(const Placed& placed);

// The written values by name, sorted.
std::vector<std::string> writtenNames(const Placed& placed);

}  // namespace hopscope::pipeline

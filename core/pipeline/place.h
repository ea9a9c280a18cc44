#pragma once

// Solves abstract placement instances (docs/placement-instance.md).

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimiser/conflict.h"
#include "pipeline/reporter.h"
#include "json/json.h"

namespace hopscope::pipeline {

struct PlaceOptions {
    std::string file;
    std::string caseId;  // empty: all of the file
    optimiser::Strategy strategy = optimiser::Strategy::Optimal;
    bool literal = false;  // the literal colouring of the source documents, too
    double deadline = 60;  // seconds per instance
};

// One instance and what came of it.
struct Placed {
    optimiser::Instance instance;
    optimiser::Answer answer;
    optimiser::Conflict conflict;  // of an infeasible instance, where the solver could find it
    json::Value literal;           // null unless it was asked for
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

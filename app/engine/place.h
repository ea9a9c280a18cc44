#pragma once

// `place`: solves abstract placement instances (docs/placement-instance.md).

#include <string>
#include <vector>

#include "base/result.h"
#include "optimiser/conflict.h"
#include "session.h"
#include "json/json.h"

namespace hopscope::engine {

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

json::Value placedDocument(const Placed& placed);
std::string placedText(const Placed& placed, const Style& style);

// Prints the answers; returns 4 where an instance has no legal plan, else 0.
base::Result<int> place(const PlaceOptions& options, Session& session);

}  // namespace hopscope::engine

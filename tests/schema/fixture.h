#pragma once

// A two-layer model drawn by hand: x, edge_index -> gather, scatter_add (v4), relu (v5), gather, scatter_add (v8 =
// out), with a structure-only count of the edges (v3). Nothing of it comes from the loader or the analysis.

#include "analysis/analysis.h"
#include "plan/plan.h"
#include "schema/report.h"
#include "schema/split.h"
#include "json/json.h"

namespace fixture {

hopscope::analysis::Analysis analysis();
hopscope::plan::Plan plan();
hopscope::schema::Verification verification();
hopscope::schema::Report report();
hopscope::schema::Split split();

// Every way to break one field of a document: the field left out, null, and a value of another kind; with its pointer.
struct Mutation {
    std::string pointer;
    std::string what;
    std::string text;
};
std::vector<Mutation> mutations(const std::string& document);

// The document with the value at `pointer` replaced.
std::string with(const std::string& document, const std::string& pointer, hopscope::json::Value value);

}  // namespace fixture

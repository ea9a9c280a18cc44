#pragma once

// Finds the rows and edges that the result of one row of an output, called the node, depends on in each round of
// message passing, for any mixture of node types and relations.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "analysis/analysis.h"
#include "base/result.h"
#include "base/tensor.h"
#include "loader/loader.h"
#include "schema/receptive_field.h"

namespace hopscope::receptive {

struct Request {
    std::string table;                 // of the node; may be empty if outputs have rows of one table only
    std::optional<std::int64_t> node;  // none: drawn with the seed
    std::uint64_t seed = 1;            // also for the sample of nodes
    std::int64_t budget = 20'000'000;  // about how many rows and edges averages may visit
    bool average = true;               // whether to compute averages over all nodes as well
    std::string idsFile;               // .safetensors for all row numbers; empty: none
};

// Finds the receptive field of a node. Averages over nodes are exact if the budget seems to suffice for all receptive
// fields, judging by the first ones. Otherwise they are those of a sample of at least four nodes, whose size follows
// from the budget and these first ones. `folder`: for scratch files. Fails with Usage (no such node or table, or
// several tables to choose from), Unsupported (no output has rows), Input, Resources or Cancelled.
base::Result<schema::ReceptiveField> receptiveField(const loader::Walk& walk, const analysis::Analysis& analysis,
                                                    const base::TensorMap& inputs, const Request& request,
                                                    const std::string& folder, std::stop_token stop);

}  // namespace hopscope::receptive

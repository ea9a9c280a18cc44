#pragma once

// The rows and edges that the result of one node depends on: exactly those that the recorded program reads for it, in
// every round of message passing, on any mixture of node types and relations.

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
    std::string table;                 // of the destination; empty if outputs have rows of one table only
    std::optional<std::int64_t> node;  // none: drawn with the seed
    std::uint64_t seed = 1;            // also of the sample of nodes
    std::int64_t budget = 20'000'000;  // rows and edges that the average over nodes may visit
    bool average = true;               // also over all nodes
    std::string idsFile;               // .safetensors for all row numbers; empty: none
};

// Averages over nodes are exact if all fields can be visited within the budget; otherwise they are those of a sample,
// whose size follows from the budget and the first fields of the sample (at least four). `folder`: for scratch files.
// Fails with Usage (no such node or table), Unsupported (no output has rows), Input, Resources or Cancelled.
base::Result<schema::ReceptiveField> receptiveField(const loader::Walk& walk, const analysis::Analysis& analysis,
                                                    const base::TensorMap& inputs, const Request& request,
                                                    const std::string& folder, std::stop_token stop);

}  // namespace hopscope::receptive

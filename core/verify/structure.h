#pragma once

// The declared tables of the real inputs and the key columns between them: what a neighbourhood is taken from.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/roles/int_column.h"
#include "analysis/roles/roles.h"
#include "base/result.h"
#include "graph/adjacency.h"
#include "verify/estimate.h"

namespace hopscope::verify {

// A key column: row r of `table` names row keys[r] of `target`.
struct Link {
    ir::SpaceId table, target;
    std::string input;  // the data key that holds the column
    int end = -1;       // relations: row of the index; -1 for a plain column
    analysis::IntColumn keys;
    bool followed = false;  // some operator aggregates along it: a round adds all rows of a target
    bool inDegree = false;  // ... and not only to know the structure
    std::optional<graph::Adjacency> rows = std::nullopt;  // followed ones, after prepareRounds: by target
};

struct Structure {
    std::vector<ir::SpaceId> tables;  // declared ones
    TableSizes sizes;
    std::vector<Link> links;
    std::vector<std::string> unresolved;  // aggregations whose key is no declared column, by operator
};

// Reads no data, only where it is. Marks the links that aggregations follow, those of the prologue included.
Structure makeStructure(const analysis::Analysis& analysis, const analysis::InputSchema& schema,
                        const base::TensorMap& inputs);

// Builds the adjacency of every followed link, in scratch files of `folder`. Linear in the edges.
base::Status prepareRounds(Structure& structure, const std::string& folder);

// How many rows are aggregated into each row of `table` for more than structure; for an edge, into its ends together. One
// number per row, in scratch. Linear in the edges; needs no adjacency.
base::Result<std::shared_ptr<std::byte>> inDegrees(const Structure& structure, ir::SpaceId table,
                                                   const std::string& folder);
inline const std::int64_t* asNumbers(const std::shared_ptr<std::byte>& bytes)
{
    return reinterpret_cast<const std::int64_t*>(bytes.get());
}

}  // namespace hopscope::verify

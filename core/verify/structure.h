#pragma once

// Finds the tables of the inputs and the key columns between them, from which neighbourhoods are computed.

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

// A key column: row r of `table` refers to row keys[r] of `target`.
struct Link {
    ir::SpaceId table, target;
    std::string input;                                   // the data key that contains the column
    int end = -1;                                        // for relations: 0 or 1, the end of the edges; otherwise -1
    analysis::EdgeForm form = analysis::EdgeForm::Rows;  // for relations
    analysis::IntColumn keys;
    bool followed = false;  // some operator aggregates along it: a round adds all rows that refer to a known target
    bool inDegree = false;  // some operator outside of the prologue aggregates along it
    std::optional<graph::Adjacency> rows = std::nullopt;  // the rows of each target; set by prepareRounds() if followed
};

struct Structure {
    std::vector<ir::SpaceId> tables;  // the tables that inputs declare
    TableSizes sizes;
    std::vector<Link> links;
    std::vector<std::string> unresolved;  // sentences on operators whose key is not a column of the inputs
};

// Returns the number of rows of each table that inputs declare.
TableSizes declaredSizes(const analysis::Analysis& analysis, const analysis::InputSchema& schema);

// Finds the tables and links, and marks the links that aggregations follow, including those of the prologue. Does not
// read the elements of inputs.
Structure makeStructure(const analysis::Analysis& analysis, const analysis::InputSchema& schema,
                        const base::TensorMap& inputs);

// Builds the adjacency of every followed link, in scratch files of `folder`. Linear in the edges.
base::Status prepareRounds(Structure& structure, const std::string& folder);

// Returns the in-degree of each row of `table`, an int64 in a scratch file: the number of rows that operators outside
// of the prologue aggregate into it. For an edge, it is the sum of the in-degrees of its ends. Linear in the edges;
// needs no adjacency.
base::Result<std::shared_ptr<std::byte>> inDegrees(const Structure& structure, ir::SpaceId table,
                                                   const std::string& folder);
inline const std::int64_t* asNumbers(const std::shared_ptr<std::byte>& bytes)
{
    return reinterpret_cast<const std::int64_t*>(bytes.get());
}

}  // namespace hopscope::verify

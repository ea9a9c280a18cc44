#pragma once

// Private to receptive: converts the demand of one row to the levels of the document, with the input rows from which
// derived tables are made.

#include "base/tensor.h"
#include "receptive/demand.h"
#include "schema/receptive_field.h"

namespace hopscope::receptive {

class Levels {
public:
    Levels(executor::Structure& structure, const analysis::Analysis& analysis, RowMoves& moves,
           const Backtrack& backtrack);

    // Returns the levels of a demand, with row numbers if `listed` is set.
    std::vector<schema::FieldLevel> describe(const Demand& demand, bool listed);
    // Returns the edges into a row along which each round of message passing gathers.
    std::vector<schema::FieldBlock> blocks(ir::SpaceId table, std::int64_t row);
    // Returns the rows that the round at `depth` reads for a row. `demand` is the demand of that round.
    std::vector<schema::FieldRead> reads(int depth, const Demand& demand) const;
    // Returns row numbers by name: "depth1.node", "depth1.edge_index", with "from" and "to" of each edge.
    base::TensorMap ids(const std::vector<schema::FieldLevel>& levels) const;

private:
    schema::FieldRows rowsOf(const Needed& needed, const Rows& rows, bool listed);
    schema::FieldEdges edgesOf(int depth, ir::SpaceId space, ir::KeyId owner, const Rows& rows, bool listed);
    void listEnds(schema::FieldEdges& edges, ir::SpaceId space, ir::KeyId owner, ir::KeyId source,
                  const std::vector<std::int64_t>& rows);

    executor::Structure& m_structure;
    const analysis::Analysis& m_analysis;
    RowMoves& m_moves;
    std::map<Needed, std::int64_t> m_rowBytes;
    std::map<int, std::map<std::pair<ir::SpaceId, ir::KeyId>, ir::KeyId>> m_sources;
};

// Returns the number of row numbers in a full list of the demand.
std::int64_t idCount(const Demand& demand);

}  // namespace hopscope::receptive

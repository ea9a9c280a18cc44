#pragma once

// Private to receptive: walks a program back from its outputs and finds the rows of each value that the result of one
// row depends on.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "receptive/rows.h"

namespace hopscope::receptive {

// The messages that some operators of one depth combine by destination, and the key of their sources.
struct Messages {
    ir::SpaceId space;
    ir::KeyId owner, source;
    auto operator<=>(const Messages&) const = default;
};

struct Needed {
    int depth = 0;
    ir::SpaceId table;
    auto operator<=>(const Needed&) const = default;
};

struct Demand {
    std::map<Needed, RowsPtr> rows;  // of values that pass from one depth to the next
    std::map<int, std::map<std::pair<ir::SpaceId, ir::KeyId>, RowsPtr>>
        edges;  // by depth, table and owner: the messages
};

// The steps of a program, once for all rows. Refers to its arguments.
class Backtrack {
public:
    Backtrack(const analysis::Analysis& analysis, RowMoves& moves);

    // The rows that `row` of `table` needs, in outputs on this table.
    Demand from(ir::SpaceId table, std::int64_t row);
    // The demand of the operators of one depth that compute the values of `row` for later depths or outputs.
    Demand round(int depth, ir::SpaceId table, std::int64_t row);
    // Bytes per row of the values that pass, by depth and table: distinct values, once each.
    [[nodiscard]] std::map<Needed, std::int64_t> rowBytes() const;
    // The key of the gathers that feed the messages, by depth, table and owner; none if nothing is gathered.
    [[nodiscard]] std::map<int, std::map<std::pair<ir::SpaceId, ir::KeyId>, ir::KeyId>> sources() const;

private:
    void step(const ir::Op& op, Demand& demand);
    RowsPtr rowsFor(const ir::Op& op, ir::Slot slot, ir::ValueId operand, const RowsPtr& wanted);
    RowsPtr entries(const ir::Op& op, const RowsPtr& wanted);
    RowsPtr wantedOf(const ir::Op& op);
    void add(ir::ValueId value, const RowsPtr& rows);
    void noteMessages(const ir::Op& op, const RowsPtr& wanted, Demand& demand);
    [[nodiscard]] ir::SpaceId tableOf(ir::ValueId value) const;
    [[nodiscard]] int depthOf(ir::ValueId value) const;
    [[nodiscard]] bool passes(ir::ValueId operand, const ir::Op& reader) const;
    [[nodiscard]] bool carries(const ir::Op& op) const;
    [[nodiscard]] bool carried(const ir::Op& op) const;
    void dropUsedAtOnce();
    [[nodiscard]] bool features(ir::ValueId value) const;
    [[nodiscard]] std::set<ir::ValueId> leaving(int depth, ir::SpaceId table) const;

    const analysis::Analysis& m_analysis;
    RowMoves& m_moves;
    std::map<ir::ValueId, RowsPtr> m_wanted;
    // Rows of edges that are copies of their destinations' rows, or follow from these alone, and that only later rounds
    // use. Those rounds recompute them, and therefore read the rows of the destinations instead.
    std::set<ir::ValueId> m_carried;
};

// The sparse matrix among the operands; invalid if there is none.
ir::ValueId sparseMatrix(const analysis::Analysis& analysis, const ir::Op& op);

}  // namespace hopscope::receptive

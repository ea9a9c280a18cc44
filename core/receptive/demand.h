#pragma once

// Private to receptive: traverses a program backwards from its outputs, and finds the rows of each value that one row
// of the results depends on.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "receptive/rows.h"

namespace hopscope::receptive {

// The messages that operators of one depth aggregate by destination, and the key of their sources.
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
    std::map<Needed, RowsPtr> rows;  // rows of values that pass from one depth to the next
    std::map<int, std::map<std::pair<ir::SpaceId, ir::KeyId>, RowsPtr>>
        edges;  // the messages, by depth, table and owner
};

// Finds the demand of rows. Prepares the steps of the program once for all rows. The arguments must outlive it.
class Backtrack {
public:
    Backtrack(const analysis::Analysis& analysis, RowMoves& moves);

    // Returns the rows that `row` of `table` needs, for the outputs with rows of this table.
    Demand from(ir::SpaceId table, std::int64_t row);
    // Returns the demand of the operators of one depth that compute the values of `row` for later depths or outputs.
    Demand round(int depth, ir::SpaceId table, std::int64_t row);
    // Returns the bytes per row of the values that pass, by depth and table. Each value counts once.
    [[nodiscard]] std::map<Needed, std::int64_t> rowBytes() const;
    // Returns the key of the gathers from which messages are computed, by depth, table and owner; none if nothing is
    // gathered.
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
    // Values on edges that follow from the rows of their destinations alone, and that only later rounds use. Those
    // rounds recompute them, and therefore read the rows of the destinations instead.
    std::set<ir::ValueId> m_carried;
};

// Returns the sparse matrix among the operands; invalid if there is none.
ir::ValueId sparseMatrix(const analysis::Analysis& analysis, const ir::Op& op);

}  // namespace hopscope::receptive

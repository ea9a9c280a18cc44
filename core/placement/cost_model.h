#pragma once

// The costs of computing, storing, reading and recomputing a value, from the bytes per row of the program, the rows of
// the graph and the rates of the machine.

#include <set>
#include <string>

#include "analysis/analysis.h"
#include "base/choices.h"
#include "base/store_type.h"
#include "plan/machine.h"
#include "plan/plan.h"
#include "plan/row_counts.h"

namespace hopscope::placement {

using base::Objective;

// What stays on a GPU between stages. Its rows are written and read at the rate of row-wise operators, and where the
// adjacencies stay as well, they are gathered without row numbers of the host, and index columns are read there.
struct Residency {
    bool everything = false;  // all tables and adjacencies, whatever a plan stores
    std::set<ir::ValueId> tables{};
    bool structure = false;

    [[nodiscard]] bool holds(ir::ValueId value) const { return everything || tables.contains(value); }
    [[nodiscard]] bool inPlace() const { return everything || structure; }
};
Residency residencyOf(const plan::Plan& plan);

// The cost model of a plan. All costs are in the objective's unit. If the objective is bytes, an operator costs a
// millionth of a byte per byte that it reads or writes. Of two plans that move the same number of bytes, the one with
// less work is therefore cheaper.
class CostModel {
public:
    // `store` is the type of values in stores. The analysis must outlive this object.
    CostModel(const analysis::Analysis& analysis, Objective objective, plan::Machine machine, plan::RowCounts rows,
              base::StoreType store = base::StoreType::Exact);

    // Returns the number of rows of a class in all batches of a loop over `destination`.
    [[nodiscard]] double rows(const ir::RowClass& rows, ir::SpaceId destination) const;
    [[nodiscard]] double write(ir::ValueId value, const ir::RowClass& on, ir::SpaceId destination) const;
    // Structure-only values are read like inputs, and count as structure; of an expanded view, the rows that it shows.
    [[nodiscard]] double read(ir::ValueId value, const ir::RowClass& on, ir::SpaceId destination) const;
    [[nodiscard]] double compute(ir::OpId op, const ir::RowClass& on, ir::SpaceId destination) const;
    // Returns the cost of the row numbers of the host with which the rows of `space`, owned by `owner`, gather by `key`
    // from the frontier of `type`.
    [[nodiscard]] double relation(ir::SpaceId space, ir::KeyId owner, ir::SpaceId type, ir::SpaceId destination) const;
    [[nodiscard]] double stage(ir::SpaceId destination) const;  // fixed cost of a loop, without its work
    [[nodiscard]] double bytes(ir::ValueId value) const;        // of all its rows, in a store
    [[nodiscard]] Objective objective() const { return m_objective; }
    [[nodiscard]] const plan::RowCounts& rowCounts() const { return m_rows; }

    // Returns a model with an additional price in seconds on each byte that is moved (0: none). Of two plans that take
    // nearly the same time, the one that moves less is then cheaper. No effect if the objective is bytes.
    [[nodiscard]] CostModel leaning(double secondsPerByte) const;
    [[nodiscard]] bool leans() const { return m_secondsPerByte > 0; }

    // Returns a model in which this stays on the device; nothing does so in others. If adjacencies stay, relation() is
    // the cost only of a loop that computes values on the frontier, or reads values there that do not stay.
    [[nodiscard]] CostModel with(Residency residency) const;
    [[nodiscard]] const Residency& residency() const { return m_residency; }

private:
    [[nodiscard]] bool stays(ir::ValueId value) const;
    [[nodiscard]] double storedRowBytes(ir::ValueId value) const;
    [[nodiscard]] double seconds(ir::OpId op, double rows) const;
    [[nodiscard]] double touched(ir::OpId op) const;
    [[nodiscard]] double operations(ir::OpId op) const;
    [[nodiscard]] double priced(double bytes, double rate) const;
    [[nodiscard]] double batches(ir::SpaceId destination) const;
    [[nodiscard]] double kept(double bytes) const;

    const analysis::Analysis& m_analysis;
    Objective m_objective;
    plan::Machine m_machine;
    plan::RowCounts m_rows;
    base::StoreType m_store;
    double m_secondsPerByte = 0;
    Residency m_residency;
};

// Returns the bytes of one row, from the sample's shape. Constant time.
double rowBytes(const analysis::Analysis& analysis, ir::ValueId value);

}  // namespace hopscope::placement

#pragma once

// The first stage in which each value is available on each row class, if the values with `mayStore` may be stored.
//   comp(v, C) = max over operands of dep(operand, rows of the operand for C)
//   home(v)    = min over partition classes P of comp(v, P), not before the stage that it is delayed to
//   dep(v, C)  = min(comp(v, C), 1 + home(v) if v may be stored)
// Consumers of a value that must be read wait for its store: dep(v, C) = 1 + home(v). Stages count from 0. The table is
// filled in one pass over the operators.

#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/rows/classes.h"

namespace hopscope::placement {

class DepTable {
public:
    static constexpr int never = 1 << 20;
    using MayStore = std::function<bool(ir::ValueId)>;

    using NotBefore = std::map<ir::ValueId, int>;

    // `mustRead` contains values that may be stored and must be read from their stores. `notBefore` delays stores and
    // row reductions (by their results): their home lies in the given stage or later.
    DepTable(const analysis::Analysis& analysis, const MayStore& mayStore, std::set<ir::ValueId> mustRead = {},
             NotBefore notBefore = {});

    // Derives the table for different stores and delays from one with the same model and `mustRead`. Computes only the
    // entries that the difference affects.
    DepTable(const DepTable& before, const std::set<ir::ValueId>& stored, NotBefore notBefore);

    [[nodiscard]] int
    comp(ir::ValueId v, const ir::RowClass& rows) const;  // stage in which it can be computed, without reading v itself
    [[nodiscard]] int dep(ir::ValueId v, const ir::RowClass& rows) const;  // stage in which it can be computed or read

    struct Home {
        int stage = never;
        ir::RowClass rows;  // the partition class on which v is first complete: where it is written
        bool operator==(const Home&) const = default;
    };
    [[nodiscard]] Home home(ir::ValueId v) const { return m_home[v.at()]; }
    [[nodiscard]] Home reductionHome(ir::OpId op) const;  // the loop that a row reduction runs over

    // True if this table is derived from another one and its entries for the value may differ.
    [[nodiscard]] bool differs(ir::ValueId v) const { return !m_differs.empty() && m_differs[v.at()] != 0; }

private:
    struct Cell {  // one row class of a value
        ir::RowClass rows;
        int stage = never;
        bool operator==(const Cell&) const = default;
    };
    struct Place {  // the cells of a value
        std::size_t first = 0, count = 0;
    };

    struct Known {  // the entries of a value
        Home home;
        std::vector<Cell> cells;
        bool operator==(const Known&) const = default;
    };

    [[nodiscard]] bool isFilled(const ir::Op& op) const;
    void fill(const ir::Op& op);
    void fillValue(ir::OpId op, ir::ValueId v);
    void fillReduction(const ir::Op& op);
    void noteStores(const std::set<ir::ValueId>& stored);
    void noteDelays(const NotBefore& before);
    void refill();
    [[nodiscard]] std::vector<Known> known(const ir::Op& op) const;
    [[nodiscard]] bool isConcerned(const ir::Op& op) const;
    [[nodiscard]] std::span<Cell> cells(ir::ValueId v);
    [[nodiscard]] std::span<const Cell> cells(ir::ValueId v) const;
    [[nodiscard]] int compute(ir::OpId op, const ir::RowClass& rows) const;
    [[nodiscard]] int delayed(ir::ValueId v, int stage) const;

    const analysis::Analysis& m_analysis;
    std::set<ir::ValueId> m_mustRead;
    NotBefore m_notBefore;
    std::vector<std::uint8_t> m_mayStore;  // by value, of those with cells
    std::vector<Place> m_places;           // by value
    std::vector<Cell> m_cells;
    std::vector<Home> m_home;  // by value
    std::map<ir::OpId, Home> m_reductions;
    std::vector<std::uint8_t> m_differs;  // by value; empty if it is not derived
};

}  // namespace hopscope::placement

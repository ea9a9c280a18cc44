#pragma once

// Private to placement: the earliest stage in which a value exists on the rows of a class (ANALYSIS: the dep table).
//   comp(v, C) = max over operands of dep            dep(v, C) = min(comp(v, C), 1 + home(v) if v may be stored)
// Consumers of a value that must be read wait for its store: dep(v, C) = 1 + home(v).
// Numbers count stages from 0. Filled in one pass over the operators.

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/rows/classes.h"

namespace hopscope::placement {

class DepTable {
public:
    static constexpr int never = 1 << 20;
    using MayStore = std::function<bool(ir::ValueId)>;

    using NotBefore = std::map<ir::ValueId, int>;

    // `mustRead` names values that may be stored. `notBefore` delays stores, and row reductions (by their results): a home
    // lies in that stage or later.
    DepTable(const analysis::Analysis& analysis, MayStore mayStore, std::set<ir::ValueId> mustRead = {},
             NotBefore notBefore = {});

    [[nodiscard]] int comp(ir::ValueId v, const ir::RowClass& rows) const;  // computed there, without reading v itself
    [[nodiscard]] int dep(ir::ValueId v, const ir::RowClass& rows) const;   // computed or read there

    struct Home {
        int stage = never;
        ir::RowClass rows;  // the partition class on which v is first complete: where it is written
    };
    [[nodiscard]] Home home(ir::ValueId v) const;
    [[nodiscard]] Home reductionHome(ir::OpId op) const;  // the loop that a row reduction runs over
    [[nodiscard]] bool mayStore(ir::ValueId v) const { return m_mayStore(v); }

private:
    void visit(const ir::Op& op);
    void visitReduction(const ir::Op& op);
    [[nodiscard]] int compute(ir::OpId op, const ir::RowClass& rows) const;
    [[nodiscard]] int delayed(ir::ValueId v, int stage) const;

    const analysis::Analysis& m_analysis;
    MayStore m_mayStore;
    std::set<ir::ValueId> m_mustRead;
    NotBefore m_notBefore;
    std::vector<std::unordered_map<ir::RowClass, int>> m_comp;  // by value
    std::vector<Home> m_home;                                   // by value
    std::unordered_map<int, Home> m_reductions;                 // by operator
};

}  // namespace hopscope::placement

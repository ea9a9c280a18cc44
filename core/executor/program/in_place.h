#pragma once

// Private to executor: determines which tables the operators of a loop read in place, by global row number, instead of
// from a copy of the frontier's rows.

#include "executor/program/fuse.h"

namespace hopscope::executor {

class TablesInPlace {
public:
    struct Given {
        const std::unordered_set<ir::ValueId>& stored;  // by earlier stages
        const InPlace& suitable;                        // tables whose memory layout allows it
        Way way;
    };

    // Selects the tables. A suitable table is read in place if its only readers on the frontier are segments, products
    // with sparse matrices, strips and, in tiles and on a GPU, row gathers and reshapes that are themselves read in place.
    // All arguments except `given` must outlive this object.
    TablesInPlace(const analysis::Analysis& analysis, const plan::Loop& loop, const std::vector<StepUse>& uses,
                  const Fuser& fuser, const Given& given);

    // Returns whether the value, a table or its reshaped rows, is read in place.
    [[nodiscard]] bool reads(ir::ValueId value) const { return m_tables.contains(value); }
    [[nodiscard]] bool isReshaped(ir::ValueId value) const { return reads(value) && table(value) != value; }
    // Returns the table that underlies a value that is read in place.
    [[nodiscard]] ir::ValueId table(ir::ValueId value) const { return m_tables.at(value); }
    // Returns whether the step only reshapes a table that is read in place.
    [[nodiscard]] bool needless(int step) const { return m_needless.contains(step); }
    // Tiles and GPU: returns the operand whose rows a step gathers and could read in place; nullptr if there is none.
    [[nodiscard]] const analysis::OperandRows* picked(int step) const;

private:
    using Held = std::pair<ir::ValueId, ir::RowClass>;

    // Returns the table by which a step multiplies a sparse matrix, if it is on a frontier; otherwise nullptr.
    [[nodiscard]] const analysis::OperandRows* multiplied(int step) const;
    bool isTable(const Held& held, const Given& given) const;
    bool readInStrips(const Held& held) const;
    bool reshapesRows(int step) const;
    bool repeatsOnce(const ir::Op& op) const;
    bool onlyReadInPlace(const Held& held) const;
    void take(const Held& held, ir::ValueId table);
    std::vector<int> reshapesOf(const Held& held) const;
    Held reshaped(int step) const;
    const plan::Step& step(int at) const { return m_loop.steps[static_cast<std::size_t>(at)]; }
    const std::vector<analysis::OperandRows>& operands(int at) const
    {
        return m_uses[static_cast<std::size_t>(at)].operands;
    }

    const analysis::Analysis& m_analysis;
    const plan::Loop& m_loop;
    const std::vector<StepUse>& m_uses;
    const Fuser& m_fuser;
    bool m_gathers;                               // row gathers read tables in place
    std::set<Held> m_computed;                    // by the loop
    std::set<Held> m_inStrips;                    // read by strips
    std::map<Held, int> m_readers;                // segments, strips and row gathers that could read in place
    std::map<Held, std::vector<int>> m_reshapes;  // steps, by the value they reshape
    std::map<ir::ValueId, ir::ValueId> m_tables;  // by the value read in place
    std::set<int> m_needless;
};

}  // namespace hopscope::executor

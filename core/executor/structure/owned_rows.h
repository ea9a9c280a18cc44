#pragma once

// Private to executor: computes values of the prologue in the order of an adjacency, in which a batch's rows are
// consecutive.
//
// The values are computed directly in that order, in chunks on all cores: a gather reads its table by the adjacency's
// columns, and row-wise operators follow. This requires neither an index nor intermediate values in the order of the
// table. Only results of other operators are computed as a whole and then rearranged.

#include "executor/structure.h"

namespace hopscope::executor {

class OwnedRows {
public:
    // `rows` is an Owned class. All arguments must outlive this object.
    OwnedRows(Structure& structure, const analysis::Analysis& analysis, Caller& caller, const ir::RowClass& rows);

    // Returns all rows of a structure-only value that has the class's table along its first dimension. Row p belongs to
    // the table's row at position p (Adjacency::eachRow). The bits do not depend on the number of threads. Linear in
    // the rows.
    at::Tensor compute(ir::ValueId value);

private:
    struct Source {
        enum Way : std::uint8_t {
            Whole,       // without rows of the class's table
            Rearranged,  // rows of `table`, in the table's order
            Gathered,    // rows of `table`, by `column` or, without one, by owner
            Computed,    // by `op` from other sources
        } way = Whole;
        at::Tensor table;
        const OwnedColumn* column = nullptr;
        const ir::Op* op = nullptr;
    };
    struct Chunk {
        std::int64_t first = 0, count = 0;  // positions
        std::map<ir::ValueId, at::Tensor> made;
        at::Tensor owners;
    };

    void find(ir::ValueId value);
    [[nodiscard]] bool hasClassRows(ir::ValueId value) const;
    [[nodiscard]] bool isComputed(const ir::Op& op) const;
    [[nodiscard]] bool isGathered(const ir::Op& op) const;
    void findOperands(const ir::Op& op);
    Source gathered(const ir::Op& op);

    const at::Tensor& rowsIn(Chunk& chunk, ir::ValueId value) const;
    [[nodiscard]] at::Tensor make(Chunk& chunk, const Source& source) const;
    [[nodiscard]] at::Tensor call(Chunk& chunk, const ir::Op& op) const;
    const at::Tensor& owners(Chunk& chunk) const;

    Structure& m_structure;
    const analysis::Analysis& m_analysis;
    Caller& m_caller;
    ir::RowClass m_rows;
    const graph::Adjacency& m_order;
    std::map<ir::ValueId, Source> m_sources;
};

}  // namespace hopscope::executor

#pragma once

// Private to executor: values of the prologue in the order of an adjacency, in which a batch's rows are consecutive.
//
// They are computed in that order, in chunks on all cores: a gather reads its table by the adjacency's columns, and
// row-wise operators follow. This needs no intermediate value in the order of the table, and no index; only values of
// other operators are computed as a whole and then rearranged.

#include "executor/structure.h"

namespace hopscope::executor {

class OwnedRows {
public:
    // `rows`: an Owned class. All arguments must outlive this object.
    OwnedRows(Structure& structure, const analysis::Analysis& analysis, Caller& caller, const ir::RowClass& rows);

    // All rows of a structure-only value with rows of the class's table along its first dimension: row p is that of the
    // row at position p (Adjacency::eachRow). The bits do not depend on the number of threads. Linear in the rows.
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

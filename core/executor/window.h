#pragma once

// Private to executor: the rows of tables in files that a range of a loop's destinations asks for, in memory.

#include <map>
#include <memory>

#include "executor/loop_program.h"
#include "executor/read_ahead.h"
#include "executor/structure.h"

namespace hopscope::executor {

// Where the loop reads rows of a table in place: by a key, for each row of a class.
struct Ask {
    ir::ValueId table;
    ir::RowClass on;
    ir::SpaceId space;
    ir::KeyId key;

    bool operator==(const Ask&) const = default;
};

// Each once, in the order of the instructions.
std::vector<Ask> asksOf(const LoopProgram& program);

// Threads may use a window side by side.
class Window {
public:
    explicit Window(const Destinations& range) : m_range(range) {}

    [[nodiscard]] const Destinations& range() const { return m_range; }

    // The table that is read in place: the rows that are asked for, one after the other, by ascending number. nullptr: it is
    // read where it lies.
    [[nodiscard]] const at::Tensor* table(ir::ValueId table) const;
    // For numbers of rows (32 or 64 bits) that are asked for, their places there.
    [[nodiscard]] at::Tensor places(ir::ValueId table, const at::Tensor& rows) const;

    // A tile's own rows of a table, valid until done(); undefined: they are read where they lie.
    [[nodiscard]] at::Tensor own(ir::ValueId table, const Destinations& tile) const;
    void done(const Destinations& tile) const
    {
        if (m_own) m_own->done(tile);
    }

    void add(ir::ValueId table, std::shared_ptr<const graph::RowSet> rows, at::Tensor kept)
    {
        m_tables[table] = {std::move(rows), std::move(kept)};
    }
    void readAhead(std::unique_ptr<ReadAhead> own) { m_own = std::move(own); }
    [[nodiscard]] std::int64_t bytesAhead() const { return m_own ? m_own->bytes() : 0; }

private:
    struct Kept {
        std::shared_ptr<const graph::RowSet> rows;
        at::Tensor table;
    };
    Destinations m_range;
    std::map<ir::ValueId, Kept> m_tables;
    std::unique_ptr<ReadAhead> m_own;
};

}  // namespace hopscope::executor

#pragma once

// Private to executor: provides the key columns of all tables. Columns of derived tables are written in parallel, in
// one pass, without a column for each intermediate table.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "analysis/analysis.h"
#include "executor/calls/number.h"
#include "graph/adjacency.h"

namespace hopscope::executor {

// A key column: for each row of a table, a row of another table. Numbers of inputs have 64 bits and are `stride` apart;
// numbers of derived tables have 32 bits if these suffice. Without data, row i refers to row i.
struct Column {
    const std::int64_t* data = nullptr;
    const std::int32_t* narrow = nullptr;
    std::int64_t stride = 1, rows = 0;
    std::shared_ptr<const void> owner;
    bool given = false;  // an input holds these numbers

    [[nodiscard]] bool identity() const { return data == nullptr && narrow == nullptr; }
    [[nodiscard]] std::int64_t operator[](std::int64_t row) const
    {
        if (narrow) return narrow[row];
        return data ? data[row * stride] : row;
    }
    // Calls work(key), where key(row) is operator[] without a check of the layout in each call.
    template <class Work>
    void with(Work&& work) const
    {
        if (narrow) work([from = narrow](std::int64_t row) { return static_cast<std::int64_t>(from[row]); });
        else if (data) work([from = data, by = stride](std::int64_t row) { return from[row * by]; });
        else work([](std::int64_t row) { return row; });
    }
};

// Makes key columns on demand. Not thread-safe. References remain valid for the lifetime of the object.
class KeyColumns {
public:
    // `value` returns the whole of an input or of a value of the prologue; `size` returns the number of rows of a
    // table. Both may request columns.
    KeyColumns(const analysis::Analysis& analysis, const graph::Scratch& scratch,
               std::function<at::Tensor(ir::ValueId)> value, SizeOf size)
        : m_analysis(analysis),
          m_scratch(scratch),
          m_value(std::move(value)),
          m_size(std::move(size))
    {}

    // Returns a column, which is made once, in time linear in the rows. Raises Input if a number does not fit into the
    // 32 bits that suffice for its table.
    const Column& column(ir::SpaceId space, ir::KeyId key);
    // Returns the same for a reader that needs it once. A computed column is not kept, so that its memory can be
    // reused.
    Column passing(ir::SpaceId space, ir::KeyId key);
    // Returns, for each row of a Filter or Perm table, the row of its parent.
    const Column& parentRows(ir::SpaceId space);
    // Returns the number of rows of a Filter table.
    std::int64_t selected(ir::SpaceId filter) { return selection(filter).starts.back(); }
    // Returns the same as passing(), but with explicit numbers even if row i refers to row i. Raises Input if a number
    // is not that of a row of the key's target.
    Column checked(ir::SpaceId space, ir::KeyId key);

private:
    // The rows of a Filter: those that `mask` selects, and how many of them come before each chunk of the parent.
    struct Selection {
        at::Tensor mask;
        std::vector<std::int64_t> starts;
    };
    const Selection& selection(ir::SpaceId filter);
    Column make(ir::SpaceId space, ir::KeyId key);
    Column written(ir::SpaceId space, ir::KeyId key);
    template <class Number>
    void write(ir::SpaceId space, ir::KeyId key, Number* to);
    template <class Number>
    void writeSelected(ir::SpaceId filter, ir::KeyId key, Number* to);
    Column compose(ir::SpaceId space, ir::KeyId key, const Column& outer, const Column& inner);
    Column of(ir::ValueId value, at::Tensor tensor) const;
    Column own(std::int64_t rows, bool narrow);
    [[nodiscard]] bool fitsNarrow(ir::SpaceId space, ir::KeyId key);
    [[noreturn]] void raiseOutside(ir::SpaceId space, ir::KeyId key);

    const analysis::Analysis& m_analysis;
    const graph::Scratch& m_scratch;
    std::function<at::Tensor(ir::ValueId)> m_value;
    SizeOf m_size;
    std::map<std::pair<ir::SpaceId, ir::KeyId>, Column> m_columns;
    std::map<ir::SpaceId, Column> m_parents;
    std::map<ir::SpaceId, Selection> m_selections;
};

}  // namespace hopscope::executor

#include "executor/window.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace hopscope::executor {

std::vector<Ask> asksOf(const LoopProgram& program)
{
    std::vector<Ask> asks;
    const auto include = [&](ir::ValueId value, const ir::RowClass& on, ir::SpaceId space, ir::KeyId key) {
        const auto base = program.reshaped.find(value);
        const Ask ask{base == program.reshaped.end() ? value : base->second, on, space, key};
        if (std::ranges::find(asks, ask) == asks.end()) asks.push_back(ask);
    };
    const auto segment = [&](const Segment& s) {
        if (s.from < 0) include(s.source, s.messages, s.columnSpace, s.columnKey);
    };
    for (const Instruction& i : program.instructions) {
        if (i.act == Act::Pick) include(i.value, i.rows, i.space, i.key);
        if (i.act == Act::Segment) segment(i.segment);
        if (i.strips)
            for (const StripTableSource& t : i.strips->tables)
                if (t.value.valid() && t.operand < 0) segment(t.place);
    }
    return asks;
}

const at::Tensor* Window::table(ir::ValueId table) const
{
    const auto found = m_tables.find(table);
    return found == m_tables.end() ? nullptr : &found->second.table;
}

at::Tensor Window::own(ir::ValueId table, const Destinations& tile) const
{
    if (!m_own || !m_own->has(table)) return {};
    if (m_own->covers(tile)) return m_own->rows(table, tile);
    const Kept& kept = m_tables.at(table);
    const std::int64_t first = kept.rows->place(tile.first);
    return kept.table.narrow(0, first, tile.count);  // all of them are there
}

at::Tensor Window::places(ir::ValueId table, const at::Tensor& rows) const
{
    const graph::RowSet& set = *m_tables.at(table).rows;
    at::Tensor places = at::empty({rows.numel()}, rows.options());
    if (rows.scalar_type() == at::kInt)
        set.places(rows.const_data_ptr<std::int32_t>(), rows.numel(), places.mutable_data_ptr<std::int32_t>());
    else set.places(rows.const_data_ptr<std::int64_t>(), rows.numel(), places.mutable_data_ptr<std::int64_t>());
    return places;
}

}  // namespace hopscope::executor

#include "executor/stores/window.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace hopscope::executor {

namespace {

constexpr std::int64_t page = graph::DirectFile::slack / 2;

}  // namespace

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
    const auto ahead = std::ranges::find_if(m_ahead, [table](const auto& a) { return a->has(table); });
    if (ahead == m_ahead.end()) return {};
    if ((*ahead)->covers(tile)) return (*ahead)->rows(table, tile);
    return gathered(m_tables.at(table), tile);
}

at::Tensor Window::gathered(const Kept& kept, const Destinations& tile)
{
    const FileTable& file = *kept.file;
    const std::int64_t bytes = tile.count * file.rowBytes;
    const at::Tensor memory = at::empty({bytes + page}, at::kByte);
    auto* const begin = static_cast<std::byte*>(memory.mutable_data_ptr());
    const auto behind = [](const std::byte* at) {
        return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) % page);
    };
    const auto* const there = static_cast<const std::byte*>(file.mapped.const_data_ptr()) + tile.first * file.rowBytes;
    std::byte* const to = begin + (behind(there) - behind(begin) + page) % page;
    for (const KeptRows* const part : {kept.asked, static_cast<const KeptRows*>(kept.own)})
        part->take(tile.first, tile.first + tile.count, to);
    std::vector<std::int64_t> shape = file.mapped.sizes().vec();
    shape[0] = tile.count;
    return at::from_blob(
        to, shape, [memory](void*) {}, file.mapped.options());
}

void Window::done(const Destinations& tile)
{
    for (const auto& ahead : m_ahead) ahead->done(tile);
    release(tile);
}

std::int64_t Window::bytesAhead() const
{
    std::int64_t bytes = 0;
    for (const auto& ahead : m_ahead) bytes += ahead->bytes();
    return bytes;
}

void Window::release(const Destinations& tile)
{
    const std::lock_guard lock(m_mutex);
    m_later.emplace(tile.first, tile.first + tile.count);
    for (auto it = m_later.begin(); it != m_later.end() && it->first == m_done; it = m_later.erase(it))
        m_done = it->second;
    for (auto& [value, kept] : m_tables)
        if (kept.own) kept.own->release(m_done, m_spare.get());
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

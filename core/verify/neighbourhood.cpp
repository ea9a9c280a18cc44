#include "verify/neighbourhood.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hopscope::verify {

namespace {

constexpr std::int64_t askEvery = 1 << 14;

}  // namespace

base::Result<Neighbourhood> Neighbourhood::create(const Structure& structure, const std::string& folder)
{
    Neighbourhood neighbourhood(structure);
    const graph::Scratch scratch(folder);
    for (const ir::SpaceId table : structure.tables) {
        auto marks = scratch.allocate(std::max<std::int64_t>(structure.sizes.at(table), 1));
        if (!marks) return base::forward(marks);
        neighbourhood.m_marks[table] = std::move(*marks);
        neighbourhood.m_sizes[table] = 0;
    }
    return neighbourhood;
}

void Neighbourhood::clear()
{
    for (auto& [table, marks] : m_marks) {
        if (m_sizes[table] > 0) std::memset(marks.get(), 0, static_cast<std::size_t>(m_structure->sizes.at(table)));
        m_sizes[table] = 0;
    }
}

bool Neighbourhood::contains(ir::SpaceId table, std::int64_t row) const
{
    return m_marks.at(table).get()[row] != std::byte{0};
}

bool Neighbourhood::mark(ir::SpaceId table, std::int64_t row)
{
    std::byte& byte = m_marks.at(table).get()[row];
    if (byte != std::byte{0}) return false;
    byte = std::byte{1};
    ++m_sizes[table];
    return true;
}

// A row and, transitively, the rows its key columns name: without those the induced inputs would point nowhere.
void Neighbourhood::add(ir::SpaceId table, std::int64_t row, Rows& added)
{
    m_open.assign(1, {table, row});
    while (!m_open.empty()) {
        const auto [t, r] = m_open.back();
        m_open.pop_back();
        if (!mark(t, r)) continue;
        added[t].push_back(r);
        for (const Link& link : m_structure->links)
            if (link.table == t) m_open.emplace_back(link.target, link.keys[r]);
    }
}

bool Neighbourhood::round(const Rows& frontier, Rows& next, const std::function<bool(const TableSizes&)>& fits)
{
    std::int64_t visited = 0;
    for (const Link& link : m_structure->links) {
        const auto rows = frontier.find(link.target);
        if (!link.followed || rows == frontier.end()) continue;
        for (const std::int64_t row : rows->second) {
            for (std::int64_t p = link.rows->begin(row), end = link.rows->end(row); p < end;) {
                const std::int64_t last = std::min(p + askEvery - visited % askEvery, end);
                link.rows->eachRow(p, last, [&](std::int64_t, std::int64_t from) { add(link.table, from, next); });
                visited += last - std::exchange(p, last);
                if (visited % askEvery == 0 && !fits(m_sizes)) return false;
            }
        }
    }
    return fits(m_sizes);
}

bool Neighbourhood::expand(const std::vector<Seed>& seeds, int rounds,
                           const std::function<bool(const TableSizes&)>& fits)
{
    clear();
    Rows frontier;
    for (const auto& [table, row] : seeds) add(table, row, frontier);
    for (int i = 0; i < rounds; ++i) {
        Rows next;
        if (!round(frontier, next, fits)) return false;
        frontier = std::move(next);
    }
    return fits(m_sizes);
}

bool Neighbourhood::distant(ir::SpaceId relation, std::int64_t row) const
{
    return std::none_of(m_structure->links.begin(), m_structure->links.end(), [&](const Link& link) {
        return link.table == relation && contains(link.target, link.keys[row]);
    });
}

void Neighbourhood::addDistantEdge(ir::SpaceId relation)
{
    constexpr std::int64_t tried = 1 << 20;
    const std::int64_t rows = std::min(m_structure->sizes.at(relation), tried);
    for (std::int64_t row = 0; row < rows; ++row) {
        if (!distant(relation, row)) continue;
        Rows ignored;
        return add(relation, row, ignored);
    }
}

void Neighbourhood::fillEmptyTables()
{
    for (const Link& link : m_structure->links)
        if (link.end == 0 && m_sizes[link.table] == 0) addDistantEdge(link.table);
    for (const ir::SpaceId table : m_structure->tables) {
        const bool relation = std::any_of(m_structure->links.begin(), m_structure->links.end(),
                                          [&](const Link& link) { return link.table == table && link.end >= 0; });
        Rows ignored;
        if (!relation && m_sizes[table] == 0 && m_structure->sizes.at(table) > 0) add(table, 0, ignored);
    }
}

}  // namespace hopscope::verify

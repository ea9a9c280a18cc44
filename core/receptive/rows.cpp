#include "receptive/rows.h"

#include <algorithm>
#include <numeric>

namespace hopscope::receptive {

using ir::KeyId;
using ir::SpaceId;

class RowMoves::Collector {
public:
    Collector(RowMoves& moves, SpaceId table) : m_marks(moves.m_marks[table]), m_rows(std::make_shared<Rows>())
    {
        m_rows->table = table;
        const auto size = static_cast<std::size_t>(moves.m_structure.size(table));
        if (m_marks.round.size() != size) m_marks.round.assign(size, 0);
        if (++m_marks.now == 0) {
            std::ranges::fill(m_marks.round, 0);
            m_marks.now = 1;
        }
    }

    void add(std::int64_t row)
    {
        std::uint32_t& round = m_marks.round[static_cast<std::size_t>(row)];
        if (round == m_marks.now) return;
        round = m_marks.now;
        m_rows->list.push_back(row);
    }

    RowsPtr finish()
    {
        m_rows->count = static_cast<std::int64_t>(m_rows->list.size());
        return m_rows;
    }

private:
    Marks& m_marks;
    std::shared_ptr<Rows> m_rows;
};

template <class Make>
RowsPtr RowMoves::once(Known known, const RowsPtr& from, Make&& make, const RowsPtr& other)
{
    const auto it = m_known.find(known);
    if (it != m_known.end()) return it->second.rows;
    RowsPtr made = make();
    m_known.emplace(known, Made{.rows = made, .from = from, .other = other});
    return made;
}

RowsPtr RowMoves::one(SpaceId table, std::int64_t row)
{
    auto rows = std::make_shared<Rows>();
    rows->table = table;
    rows->count = 1;
    rows->list = {row};
    return rows;
}

RowsPtr RowMoves::all(SpaceId table)
{
    auto rows = std::make_shared<Rows>();
    rows->table = table;
    rows->count = m_structure.size(table);
    rows->all = true;
    return rows;
}

namespace {

// Owners are never owned themselves.
template <class Visit>
void eachPlain(const Rows& rows, Visit&& visit)
{
    if (rows.all)
        for (std::int64_t row = 0; row < rows.count; ++row) visit(row);
    for (const std::int64_t row : rows.list) visit(row);
}

}  // namespace

template <class Visit>
void RowMoves::each(const Rows& rows, Visit&& visit)
{
    m_visited += rows.count;
    if (!rows.owners) return eachPlain(rows, visit);
    const graph::Adjacency& adjacency = m_structure.adjacency(rows.table, rows.owner);
    eachPlain(*rows.owners, [&](std::int64_t owner) {
        adjacency.eachRow(adjacency.begin(owner), adjacency.end(owner),
                          [&](std::int64_t, std::int64_t row) { visit(row); });
    });
}

template <class Visit>
void RowMoves::eachKey(SpaceId space, KeyId key, const Rows& rows, Visit&& visit)
{
    if (!rows.owners || rows.table != space || rows.owner == key) {
        const executor::Column& column = m_structure.column(space, key);
        return each(rows, [&](std::int64_t row) { visit(column[row]); });
    }
    const graph::Adjacency& adjacency = m_structure.adjacency(space, rows.owner);
    const executor::OwnedColumn& column = m_structure.ownedColumn(space, rows.owner, key);
    m_visited += rows.count;
    eachPlain(*rows.owners, [&](std::int64_t owner) {
        for (std::int64_t p = adjacency.begin(owner); p < adjacency.end(owner); ++p) visit(column[p]);
    });
}

RowsPtr RowMoves::listing(const Rows& rows)
{
    auto plain = std::make_shared<Rows>();
    plain->table = rows.table;
    plain->count = rows.count;
    plain->list.reserve(static_cast<std::size_t>(rows.count));
    each(rows, [&](std::int64_t row) { plain->list.push_back(row); });
    return plain;
}

RowsPtr RowMoves::owned(SpaceId space, KeyId key, const RowsPtr& owners)
{
    if (owners->all) return all(space);
    return once({Move::Owned, owners.get(), space.index, key.index}, owners, [&] {
        auto rows = std::make_shared<Rows>();
        const graph::Adjacency& adjacency = m_structure.adjacency(space, key);
        const RowsPtr plain = owners->owners ? listing(*owners) : owners;
        eachPlain(*plain, [&](std::int64_t owner) { rows->count += adjacency.end(owner) - adjacency.begin(owner); });
        rows->table = space;
        rows->owner = key;
        rows->owners = plain;
        return rows;
    });
}

RowsPtr RowMoves::targets(SpaceId space, KeyId key, const RowsPtr& rows)
{
    const SpaceId target = m_analysis.tables.target(space, key);
    if (target == rows->table && m_structure.column(space, key).identity()) return rows;
    return once({Move::Targets, rows.get(), space.index, key.index}, rows, [&] {
        Collector found(*this, target);
        if (rows->owners && rows->table == space && rows->owner == key) {
            const graph::Adjacency& adjacency = m_structure.adjacency(space, key);
            eachPlain(*rows->owners, [&](std::int64_t owner) {
                if (adjacency.end(owner) > adjacency.begin(owner)) found.add(owner);
            });
        } else {
            eachKey(space, key, *rows, [&](std::int64_t row) { found.add(row); });
        }
        return found.finish();
    });
}

RowsPtr RowMoves::parents(const RowsPtr& rows)
{
    return once({Move::Parents, rows.get(), 0, 0}, rows, [&] {
        Collector found(*this, m_analysis.tables.space(rows->table).parent);
        const executor::Column& column = m_structure.parentRows(rows->table);
        each(*rows, [&](std::int64_t row) { found.add(column[row]); });
        return found.finish();
    });
}

RowsPtr RowMoves::part(const RowsPtr& rows, std::size_t part)
{
    const std::vector<SpaceId>& parts = m_analysis.tables.space(rows->table).parts;
    if (rows->all) return all(parts[part]);
    return once({Move::Part, rows.get(), static_cast<std::int64_t>(part), 0}, rows, [&] {
        std::int64_t first = 0;
        for (std::size_t p = 0; p < part; ++p) first += m_structure.size(parts[p]);
        const std::int64_t end = first + m_structure.size(parts[part]);
        Collector found(*this, parts[part]);
        each(*rows, [&](std::int64_t row) {
            if (row >= first && row < end) found.add(row - first);
        });
        return found.finish();
    });
}

RowsPtr RowMoves::unite(const RowsPtr& a, const RowsPtr& b)
{
    if (!a || a == b || a->count == 0) return b;
    if (b->count == 0 || a->all) return a;
    if (b->all) return b;
    if (a->owners && b->owners && a->owner == b->owner) return owned(a->table, a->owner, unite(a->owners, b->owners));
    const auto merge = [&] {
        Collector found(*this, a->table);
        each(*a, [&](std::int64_t row) { found.add(row); });
        each(*b, [&](std::int64_t row) { found.add(row); });
        RowsPtr both = found.finish();
        return both->count == a->count ? a : both->count == b->count ? b : both;
    };
    return once({Move::Unite, a.get(), reinterpret_cast<std::intptr_t>(b.get()), 0}, a, merge, b);
}

std::vector<std::int64_t> RowMoves::listed(const Rows& rows)
{
    std::vector<std::int64_t> numbers;
    numbers.reserve(static_cast<std::size_t>(rows.count));
    each(rows, [&](std::int64_t row) { numbers.push_back(row); });
    std::ranges::sort(numbers);
    return numbers;
}

}  // namespace hopscope::receptive

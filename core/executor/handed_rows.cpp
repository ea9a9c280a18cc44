#include "executor/handed_rows.h"

#include <algorithm>

namespace hopscope::executor {

namespace {

// Places for all rows of the set, of which those from `first` on come.
KeptRows placesFor(std::shared_ptr<const graph::RowSet> rows, const HandedRows::Wanted& wanted)
{
    KeptRows kept(rows->count() * wanted.rowBytes);
    (void)kept.arrange(std::move(rows), wanted.rowBytes);
    kept.holdsFrom(wanted.first);
    return kept;
}

std::shared_ptr<const graph::RowSet> othersThan(const graph::RowSet& rows)
{
    return std::make_shared<const graph::RowSet>(graph::RowSet::range(rows.rows(), 0, rows.rows()).without(rows));
}

}  // namespace

HandedRows::HandedRows(const Wanted& wanted, std::shared_ptr<graph::SparePages> spare)
    : m_wanted(wanted),
      m_asked(placesFor(wanted.asked, wanted)),
      m_spare(std::move(spare))
{
    if (wanted.own) m_own.emplace(placesFor(othersThan(*wanted.asked), wanted));
}

void HandedRows::put(std::int64_t row, std::int64_t count, const std::byte* rows)
{
    const std::int64_t first = std::max(row, m_wanted.first), end = row + count;
    if (first >= end) return;
    const std::byte* const from = rows + (first - row) * m_wanted.rowBytes;
    for (const KeptRows* const part : {&m_asked, m_own ? &*m_own : nullptr}) {
        if (!part) continue;
        part->fillFrom(*m_spare, first, end);
        part->put(first, end, from);
    }
    m_count += end - first;
}

std::int64_t HandedRows::bytes() const
{
    const std::int64_t rows = m_wanted.asked->rows();
    return m_wanted.rowBytes *
           (m_own ? rows - m_wanted.first : m_wanted.asked->countIn(m_wanted.first, rows));
}

}  // namespace hopscope::executor

#include "executor/stores/handed_rows.h"

#include <algorithm>

namespace hopscope::executor {

namespace {

// Places for all rows of the set; only those from `first` on will be put there.
KeptRows placesFor(std::shared_ptr<const graph::RowSet> rows, const HandedRows::Wanted& wanted, std::int64_t room)
{
    KeptRows kept(std::max(rows->count() * wanted.rowBytes, room));
    (void)kept.arrange(std::move(rows), wanted.rowBytes);
    kept.holdsFrom(wanted.first);
    return kept;
}

}  // namespace

HandedRows::HandedRows(const Wanted& wanted, std::int64_t room, std::shared_ptr<graph::SparePages> spare)
    : m_wanted(wanted),
      m_asked(placesFor(wanted.asked, wanted, room)),
      m_spare(std::move(spare))
{
    if (wanted.own) m_own.emplace(placesFor(wanted.own, wanted, 0));
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
    std::int64_t rows = 0;
    for (const auto* const set : {&m_wanted.asked, &m_wanted.own})
        if (*set) rows += (*set)->countIn(m_wanted.first, (*set)->rows());
    return rows * m_wanted.rowBytes;
}

}  // namespace hopscope::executor

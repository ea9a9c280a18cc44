#include "graph/row_set.h"

#include <algorithm>

#include "base/clones.h"

namespace hopscope::graph {

namespace {

HOPSCOPE_CLONES("popcnt")
void places32(const RowSet& set, const std::int32_t* rows, std::int64_t count, std::int32_t* to)
{
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::int32_t>(set.place(rows[i]));
}

HOPSCOPE_CLONES("popcnt")
void places64(const RowSet& set, const std::int64_t* rows, std::int64_t count, std::int64_t* to)
{
    for (std::int64_t i = 0; i < count; ++i) to[i] = set.place(rows[i]);
}

}  // namespace

RowSet RowSet::range(std::int64_t rows, std::int64_t first, std::int64_t end)
{
    RowSet made(rows);
    for (std::int64_t row = first; row < end;) {
        const std::int64_t count = std::min(end - row, 64 - (row & 63));
        made.m_words[static_cast<std::size_t>(row >> 6)].bits |= ~std::uint64_t{0} >> (64 - count) << (row & 63);
        row += count;
    }
    made.number();
    return made;
}

void RowSet::places(const std::int32_t* rows, std::int64_t count, std::int32_t* to) const
{
    places32(*this, rows, count, to);
}

void RowSet::places(const std::int64_t* rows, std::int64_t count, std::int64_t* to) const
{
    places64(*this, rows, count, to);
}

}  // namespace hopscope::graph

#include "executor/stores/kept_rows.h"

#include <cstring>
#include <utility>

#include "executor/failure.h"

namespace hopscope::executor {

KeptRows::KeptRows(std::int64_t bytes) : m_memory(unwrap(graph::PageMemory::allocate(bytes))) {}

graph::RowSet KeptRows::arrange(std::shared_ptr<const graph::RowSet> rows, std::int64_t rowBytes)
{
    m_rowBytes = rowBytes;
    m_released = 0;
    const std::shared_ptr<const graph::RowSet> there = std::exchange(m_there, rows);
    if (there && !(*m_places == *rows)) move(there->both(*rows), *rows);
    m_places = std::move(rows);
    m_memory.empty(m_places->count() * rowBytes, m_memory.size());
    return there ? m_places->without(*there) : *m_places;
}

void KeptRows::holdsFrom(std::int64_t first)
{
    const graph::RowSet later = graph::RowSet::range(m_places->rows(), first, m_places->rows());
    m_there = std::make_shared<const graph::RowSet>(m_places->both(later));
}

void KeptRows::release(std::int64_t before, graph::SparePages* spare)
{
    const std::int64_t end = m_places->countIn(0, before) * m_rowBytes;
    if (end - m_released < releasedAtOnce) return;
    if (!spare) m_memory.empty(m_released, end);
    m_released = spare ? spare->give(m_memory, m_released, end) : end;
}

void KeptRows::fillFrom(graph::SparePages& spare, std::int64_t first, std::int64_t end) const
{
    const std::int64_t begin = m_places->countIn(0, first), count = m_places->countIn(first, end);
    spare.fill(m_memory, begin * m_rowBytes, (begin + count) * m_rowBytes);
}

// First moves the rows together at the beginning, so that no row is overwritten before it is moved.
void KeptRows::move(const graph::RowSet& both, const graph::RowSet& after)
{
    const auto copy = [&](std::int64_t from, std::int64_t to) {
        if (from != to) std::memcpy(at(to), at(from), static_cast<std::size_t>(m_rowBytes));
    };
    std::int64_t next = 0;
    for (std::int64_t row = both.next(0); row < both.rows(); row = both.next(row + 1))
        copy(m_places->place(row), next++);
    for (std::int64_t row = both.last(both.rows()); row >= 0; row = both.last(row)) copy(--next, after.place(row));
}

// copy(rows before it in the range, its place, rows) for each run of rows that follow each other.
template <class Copy>
void KeptRows::eachRun(std::int64_t first, std::int64_t end, Copy&& copy) const
{
    for (std::int64_t row = m_places->next(first); row < end; row = m_places->next(row)) {
        const std::int64_t begin = row;
        while (row < end && m_places->has(row)) ++row;
        copy(begin - first, at(m_places->place(begin)), static_cast<std::size_t>((row - begin) * m_rowBytes));
    }
}

void KeptRows::put(std::int64_t first, std::int64_t end, const std::byte* from) const
{
    eachRun(first, end, [&](std::int64_t before, std::byte* place, std::size_t bytes) {
        std::memcpy(place, from + before * m_rowBytes, bytes);
    });
}

void KeptRows::take(std::int64_t first, std::int64_t end, std::byte* to) const
{
    eachRun(first, end, [&](std::int64_t before, const std::byte* place, std::size_t bytes) {
        std::memcpy(to + before * m_rowBytes, place, bytes);
    });
}

}  // namespace hopscope::executor

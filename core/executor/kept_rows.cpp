#include "executor/kept_rows.h"

#include <cstring>
#include <utility>

#include "executor/failure.h"

namespace hopscope::executor {

KeptRows::KeptRows(std::int64_t bytes) : m_memory(unwrap(graph::PageMemory::allocate(bytes))) {}

at::Tensor KeptRows::change(const FileTable& table, std::shared_ptr<const graph::RowSet> rows, std::int64_t& read,
                            const std::stop_token& stop)
{
    const std::shared_ptr<const graph::RowSet> before = std::exchange(m_rows, std::move(rows));
    if (before) move(before->both(*m_rows), *before, table.rowBytes);
    m_memory.empty(m_rows->count() * table.rowBytes);
    const graph::RowSet missing = before ? m_rows->without(*before) : *m_rows;
    read += readRows(table, missing, *m_rows, m_memory, stop);
    return rowsIn(m_memory, m_rows->count(), table);
}

// Together at the beginning first, so that no row is written over before it is moved.
void KeptRows::move(const graph::RowSet& both, const graph::RowSet& before, std::int64_t rowBytes)
{
    const auto copy = [&](std::int64_t from, std::int64_t to) {
        if (from == to) return;
        std::memcpy(m_memory.data() + to * rowBytes, m_memory.data() + from * rowBytes,
                    static_cast<std::size_t>(rowBytes));
    };
    std::int64_t next = 0;
    for (std::int64_t row = both.next(0); row < both.rows(); row = both.next(row + 1)) copy(before.place(row), next++);
    for (std::int64_t row = both.last(both.rows()); row >= 0; row = both.last(row)) copy(--next, m_rows->place(row));
}

}  // namespace hopscope::executor

#pragma once

// Private to executor: keeps a set of a table's rows in memory, consecutively, by ascending number.

#include <memory>

#include "graph/direct_file.h"
#include "graph/row_set.h"
#include "graph/spare_pages.h"

namespace hopscope::executor {

class KeptRows {
public:
    static constexpr std::int64_t releasedAtOnce = 16 << 20;  // bytes

    // Reserves memory for this number of bytes of rows, which the system provides as it is filled. Throws Failure.
    explicit KeptRows(std::int64_t bytes);

    [[nodiscard]] std::int64_t size() const { return m_memory.size(); }
    [[nodiscard]] const std::byte* data() const { return m_memory.data(); }

    // Makes room for the rows of this set. Moves rows that are already in memory, and returns the others, which the
    // caller must put there.
    graph::RowSet arrange(std::shared_ptr<const graph::RowSet> rows, std::int64_t rowBytes);
    // Records that only the rows from this one on have been put there.
    void holdsFrom(std::int64_t first);
    // Rows before this one will not be requested any more: their memory is gradually returned to the system, or to
    // `spare`.
    void release(std::int64_t before, graph::SparePages* spare = nullptr);
    // Takes the memory for the rows of [first, end) from `spare`. Call it before these rows are put.
    void fillFrom(graph::SparePages& spare, std::int64_t first, std::int64_t end) const;

    // Copy the rows of [first, end) that belong to the set, from or to memory that contains all rows of that range
    // consecutively. Threads may do so concurrently for different rows.
    void put(std::int64_t first, std::int64_t end, const std::byte* from) const;
    void take(std::int64_t first, std::int64_t end, std::byte* to) const;

private:
    void move(const graph::RowSet& both, const graph::RowSet& after);
    [[nodiscard]] std::byte* at(std::int64_t place) const { return m_memory.data() + place * m_rowBytes; }
    template <class Copy>
    void eachRun(std::int64_t first, std::int64_t end, Copy&& copy) const;

    graph::PageMemory m_memory;
    std::int64_t m_rowBytes = 0;
    std::int64_t m_released = 0;  // bytes
    std::shared_ptr<const graph::RowSet> m_places, m_there;
};

}  // namespace hopscope::executor

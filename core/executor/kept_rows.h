#pragma once

// Private to executor: the rows of a table in a file that a window asks for, in memory that the windows of a loop share.

#include "executor/read_ahead.h"

namespace hopscope::executor {

class KeptRows {
public:
    // Room for so many bytes of rows; the system provides it as it is filled. Throws Failure.
    explicit KeptRows(std::int64_t bytes);

    [[nodiscard]] std::int64_t size() const { return m_memory.size(); }
    // From now on the rows of this set, one after the other, by ascending number. Those that are there already are moved,
    // the others are read in one pass over the table. What it gave before is not valid any more. Adds what it reads to
    // `read`. Throws Failure; returns early if it is told to stop.
    at::Tensor change(const FileTable& table, std::shared_ptr<const graph::RowSet> rows, std::int64_t& read,
                      const std::stop_token& stop);

private:
    void move(const graph::RowSet& both, const graph::RowSet& before, std::int64_t rowBytes);

    graph::PageMemory m_memory;
    std::shared_ptr<const graph::RowSet> m_rows;
};

}  // namespace hopscope::executor

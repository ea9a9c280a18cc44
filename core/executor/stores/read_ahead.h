#pragma once

// Private to executor: reads rows of tables in files on separate threads, bypassing the page cache: the rows of a set,
// or those of destinations, piece by piece, ahead of the tiles that need them.

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <ATen/core/Tensor.h>

#include "executor/rows/block.h"
#include "graph/direct_file.h"
#include "graph/row_set.h"

namespace hopscope::executor {

// A table whose rows are contiguous in a file.
struct FileTable {
    ir::ValueId value;
    at::Tensor mapped;  // all rows
    graph::DirectFile file;
    std::int64_t offset = 0, rowBytes = 0;
};

// Hands over the rows of the set, and others between them, on several threads, as consecutive rows [first, end). Reads
// the table once, in order, and skips large gaps. Returns the bytes read. Throws Failure; returns early if a stop is
// requested.
using TakeRows = std::function<void(std::int64_t first, std::int64_t end, const std::byte* rows)>;
std::int64_t readRows(const FileTable& table, const graph::RowSet& rows, const std::stop_token& stop,
                      const TakeRows& take);

inline std::int64_t rowBytesIn(const at::Tensor& table)
{
    return table.size(0) == 0 ? 0 : static_cast<std::int64_t>(table.nbytes()) / table.size(0);
}

// Returns a view of `count` rows in memory, in the shape of the table's rows.
at::Tensor rowsAt(const std::byte* first, std::int64_t count, const at::Tensor& table);

// Reads the rows of a range of destinations in some tables once, in order, while tiles are computed.
class ReadAhead {
public:
    // Reads pieces of `piece` destinations, which start at multiples of `piece`; at most `depth` pieces are in memory.
    // The tables must outlive this object.
    ReadAhead(std::vector<const FileTable*> tables, const Destinations& range, std::int64_t piece, int depth);
    ~ReadAhead();
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;

    // Returns whether the table is among those being read.
    [[nodiscard]] bool has(ir::ValueId table) const;
    // Returns whether a tile belongs to the range.
    [[nodiscard]] bool covers(const Destinations& tile) const
    {
        return tile.first >= m_range.first && tile.first < m_range.first + m_range.count;
    }
    // Waits for the table's rows of a tile that lies within a piece, and returns them. They are valid until done().
    // Throws the exception of a failed read.
    at::Tensor rows(ir::ValueId table, const Destinations& tile);
    // Releases the rows of a tile. Call it once for each tile, when its rows are no longer needed.
    void done(const Destinations& tile);
    // Returns the bytes read so far.
    [[nodiscard]] std::int64_t bytes();

private:
    struct Piece {
        std::int64_t number = -1;
        std::vector<graph::PageMemory> memory;  // by table
        std::vector<const std::byte*> first;    // row of the piece
        std::int64_t left = 0;                  // destinations that are not done
        bool there = false;
    };

    void work(const std::stop_token& stop);
    Piece* claim(const std::stop_token& stop);
    void fill(Piece& piece);
    [[nodiscard]] Destinations rangeOf(std::int64_t number) const;
    [[nodiscard]] std::int64_t numberOf(std::int64_t destination) const { return destination / m_piece; }
    Piece& held(std::int64_t number) { return m_pieces[static_cast<std::size_t>(number % m_depth)]; }

    std::vector<const FileTable*> m_tables;
    Destinations m_range;
    std::int64_t m_piece, m_depth;
    std::mutex m_mutex;  // guards the members below
    std::condition_variable_any m_changed;
    std::vector<Piece> m_pieces;
    std::int64_t m_next, m_bytes = 0;
    std::exception_ptr m_failure;
    std::vector<std::jthread> m_readers;  // last, so that the threads end before other members are destroyed
};

}  // namespace hopscope::executor

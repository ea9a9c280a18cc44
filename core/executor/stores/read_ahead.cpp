#include "executor/stores/read_ahead.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "executor/failure.h"

namespace hopscope::executor {

namespace {

constexpr int readers = 4;                   // requests that the disk has at a time
constexpr std::int64_t requested = 1 << 20;  // bytes of a request
constexpr std::int64_t readOver = 1 << 16;   // bytes of a gap that takes less time to read than to skip

// Cuts a pass over a table into requests.
class Requests {
public:
    Requests(const FileTable& table, const graph::RowSet& rows)
        : m_rows(rows),
          m_most(std::max<std::int64_t>(requested / table.rowBytes, 1)),
          m_gap(readOver / table.rowBytes)
    {}

    // First row and end; the same at the end.
    std::pair<std::int64_t, std::int64_t> take()
    {
        const std::lock_guard lock(m_mutex);
        const std::int64_t first = m_rows.next(m_next), all = m_rows.rows();
        std::int64_t end = first;
        for (std::int64_t row = first; row < all && row - end <= m_gap && row - first < m_most; row = m_rows.next(end))
            end = row + 1;
        m_next = end;
        return {first, end};
    }

private:
    const graph::RowSet& m_rows;
    const std::int64_t m_most, m_gap;  // rows
    std::mutex m_mutex;
    std::int64_t m_next = 0;
};

// Runs `work` on some threads and rethrows an exception of one of them.
template <class Work>
void onReaders(Work&& work)
{
    std::mutex mutex;
    std::exception_ptr failure;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < readers; ++t)
            threads.emplace_back([&] {
                try {
                    work();
                } catch (...) {
                    const std::lock_guard lock(mutex);
                    failure = std::current_exception();
                }
            });
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::int64_t readRows(const FileTable& table, const graph::RowSet& rows, const std::stop_token& stop,
                      const TakeRows& take)
{
    Requests requests(table, rows);
    std::atomic<std::int64_t> read = 0;
    onReaders([&] {
        const graph::PageMemory buffer =
            unwrap(graph::PageMemory::allocate(std::max(requested, table.rowBytes) + graph::DirectFile::slack));
        for (auto [first, end] = requests.take(); first < end && !stop.stop_requested();
             std::tie(first, end) = requests.take()) {
            const std::int64_t count = (end - first) * table.rowBytes;
            take(first, end, unwrap(table.file.read(table.offset + first * table.rowBytes, count, buffer.data())));
            read += count;
        }
    });
    return read;
}

at::Tensor rowsAt(const std::byte* first, std::int64_t count, const at::Tensor& table)
{
    std::vector<std::int64_t> shape = table.sizes().vec();
    shape[0] = count;
    return at::from_blob(const_cast<std::byte*>(first), shape, at::TensorOptions().dtype(table.scalar_type()));
}

ReadAhead::ReadAhead(std::vector<const FileTable*> tables, const Destinations& range, std::int64_t piece, int depth)
    : m_tables(std::move(tables)),
      m_range(range),
      m_piece(piece),
      m_depth(depth),
      m_pieces(static_cast<std::size_t>(depth)),
      m_next(numberOf(range.first))
{
    for (Piece& p : m_pieces)
        for (const FileTable* const table : m_tables)
            p.memory.push_back(unwrap(graph::PageMemory::allocate(piece * table->rowBytes + graph::DirectFile::slack)));
    for (int t = 0; t < std::min(readers, depth) && !m_tables.empty(); ++t)
        m_readers.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

ReadAhead::~ReadAhead()
{
    for (std::jthread& reader : m_readers) reader.request_stop();
}

bool ReadAhead::has(ir::ValueId table) const
{
    return std::ranges::any_of(m_tables, [table](const FileTable* t) { return t->value == table; });
}

Destinations ReadAhead::rangeOf(std::int64_t number) const
{
    const std::int64_t first = std::max(number * m_piece, m_range.first);
    return {first, std::min((number + 1) * m_piece, m_range.first + m_range.count) - first};
}

void ReadAhead::work(const std::stop_token& stop)
{
    try {
        while (Piece* const piece = claim(stop)) fill(*piece);
    } catch (...) {
        const std::lock_guard lock(m_mutex);
        m_failure = std::current_exception();
        m_changed.notify_all();
    }
}

// The next piece to read, once its place is free; nullptr at the end.
ReadAhead::Piece* ReadAhead::claim(const std::stop_token& stop)
{
    std::unique_lock lock(m_mutex);
    const auto end = [this] { return rangeOf(m_next).count <= 0; };
    if (!m_changed.wait(lock, stop, [&] { return end() || held(m_next).left == 0; }) || end()) return nullptr;
    Piece& piece = held(m_next);
    piece.number = m_next++;
    piece.left = rangeOf(piece.number).count;
    piece.there = false;
    return &piece;
}

void ReadAhead::fill(Piece& piece)
{
    const Destinations range = rangeOf(piece.number);
    std::vector<const std::byte*> first;
    std::int64_t bytes = 0;
    for (std::size_t t = 0; t < m_tables.size(); ++t) {
        const FileTable& table = *m_tables[t];
        const std::int64_t count = range.count * table.rowBytes;
        first.push_back(
            unwrap(table.file.read(table.offset + range.first * table.rowBytes, count, piece.memory[t].data())));
        bytes += count;
    }
    const std::lock_guard lock(m_mutex);
    piece.first = std::move(first);
    piece.there = true;
    m_bytes += bytes;
    m_changed.notify_all();
}

at::Tensor ReadAhead::rows(ir::ValueId table, const Destinations& tile)
{
    const std::int64_t number = numberOf(tile.first);
    std::unique_lock lock(m_mutex);
    Piece& piece = held(number);
    m_changed.wait(lock, [&] { return m_failure || (piece.number == number && piece.there); });
    if (m_failure) std::rethrow_exception(m_failure);
    const auto at = std::ranges::find(m_tables, table, &FileTable::value);
    const std::byte* const first = piece.first[static_cast<std::size_t>(at - m_tables.begin())];
    return rowsAt(first + (tile.first - rangeOf(number).first) * (*at)->rowBytes, tile.count, (*at)->mapped);
}

void ReadAhead::done(const Destinations& tile)
{
    if (!covers(tile)) return;
    const std::int64_t number = numberOf(tile.first);
    std::unique_lock lock(m_mutex);
    Piece& piece = held(number);
    // A tile that has not requested its rows may be done before they have been read.
    m_changed.wait(lock, [&] { return m_failure || (piece.number == number && piece.there); });
    if (m_failure) return;
    piece.left -= tile.count;
    m_changed.notify_all();
}

std::int64_t ReadAhead::bytes()
{
    const std::lock_guard lock(m_mutex);
    return m_bytes;
}

}  // namespace hopscope::executor

#include "executor/forecast/class_counts.h"

#include <algorithm>

#include "analysis/rows/classes.h"
#include "base/parallel.h"

namespace hopscope::forecast {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::size_t remembered = 256;
constexpr std::int64_t mostMarks = 1 << 28;  // of all threads together, 4 bytes each

Counts summed(std::vector<std::int64_t> perBatch)
{
    Counts counts;
    for (const std::int64_t n : perBatch) counts.total += n;
    counts.perBatch = std::move(perBatch);
    return counts;
}

}  // namespace

// Which rows of one table the batches have met: a row is new to a batch if its mark is another batch's.
class ClassCounts::Marks {
public:
    explicit Marks(std::int64_t rows) : m_marks(static_cast<std::size_t>(rows), -1) {}
    void begin(std::int64_t batch)
    {
        m_batch = static_cast<std::int32_t>(batch);
        m_count = 0;
    }
    void add(std::int64_t row)
    {
        std::int32_t& mark = m_marks[static_cast<std::size_t>(row)];
        m_count += mark != m_batch;
        mark = m_batch;
    }
    void add(const Range& rows)
    {
        for (std::int64_t row = rows.begin; row < rows.end; ++row) add(row);
    }
    [[nodiscard]] std::int64_t count() const { return m_count; }

private:
    std::vector<std::int32_t> m_marks;
    std::int32_t m_batch = -1;
    std::int64_t m_count = 0;
};

std::size_t Counts::largest() const
{
    return static_cast<std::size_t>(std::ranges::max_element(perBatch) - perBatch.begin());
}

ClassCounts::Key ClassCounts::keyOf(const plan::Loop& loop, const RowClass& rows, std::int64_t size) const
{
    std::vector<std::array<std::int32_t, 3>> sources;
    for (const plan::FrontierSource& s : loop.frontier)
        if (rows.kind == RowKind::Frontier && s.type == rows.table)
            sources.push_back({s.space.index, s.owner.index, s.key.index});
    std::ranges::sort(sources);
    return {loop.destination, rows, std::move(sources), size};
}

const Counts& ClassCounts::of(const plan::Loop& loop, const RowClass& rows, std::int64_t size)
{
    Key key = keyOf(loop, rows, size);
    if (const auto it = m_known.find(key); it != m_known.end()) return it->second;
    Counts counts;
    if (rows.kind == RowKind::Frontier) counts = frontier(loop, rows.table, size);
    else if (rows.kind == RowKind::Owned) counts = owned(loop, rows, size);
    else counts = batches(loop, size);
    if (m_known.size() >= remembered) m_known.erase(m_known.begin());
    return m_known[std::move(key)] = std::move(counts);
}

Counts ClassCounts::batches(const plan::Loop& loop, std::int64_t size)
{
    const std::int64_t rows = m_structure.size(loop.destination);
    std::vector<std::int64_t> perBatch;
    for (std::int64_t first = 0; first < rows; first += size) perBatch.push_back(std::min(size, rows - first));
    return summed(std::move(perBatch));
}

Counts ClassCounts::owned(const plan::Loop& loop, const RowClass& rows, std::int64_t size)
{
    const graph::Adjacency& adjacency = m_structure.adjacency(rows.table, rows.key);
    Counts counts = batches(loop, size);
    std::int64_t first = 0;
    for (std::int64_t& n : counts.perBatch) {
        const std::int64_t last = first + n;
        n = adjacency.begin(last) - adjacency.begin(first);
        first = last;
    }
    return summed(std::move(counts.perBatch));
}

// As Block builds it: own rows, and the row that each source names.
Counts ClassCounts::frontier(const plan::Loop& loop, ir::SpaceId type, std::int64_t size)
{
    Counts counts = batches(loop, size);
    if (type == loop.destination && counts.perBatch.size() == 1) return counts;  // all rows are its own
    const std::int64_t rows = m_structure.size(type), all = m_structure.size(loop.destination);
    const auto several = static_cast<int>(
        std::clamp<std::int64_t>(mostMarks / std::max<std::int64_t>(rows, 1), 1, base::hardwareThreads()));
    const auto count = static_cast<std::int64_t>(counts.perBatch.size());
    std::vector<Marker> markers;
    for (const plan::FrontierSource& source : loop.frontier)
        if (source.type == type) markers.push_back(marker(source));
    base::parallelParts(count, several, 1, [&](int, std::int64_t begin, std::int64_t end) {
        Marks marks(rows);
        for (std::int64_t i = begin; i < end; ++i) {
            const Range own{i * size, std::min((i + 1) * size, all)};
            marks.begin(i);
            if (type == loop.destination) marks.add(own);
            for (const Marker& mark : markers) mark(marks, own);
            counts.perBatch[static_cast<std::size_t>(i)] = marks.count();
        }
    });
    return summed(std::move(counts.perBatch));
}

// Marks the rows that a source names for a range of destinations. What that takes is made here: threads may not raise.
ClassCounts::Marker ClassCounts::marker(const plan::FrontierSource& source)
{
    const RowClass on = analysis::owned(m_analysis, source.space, source.owner);
    if (on.kind == RowKind::Owned && on.key == source.key)
        return [](Marks& marks, const Range& own) { marks.add(own); };
    if (on.kind != RowKind::Owned)
        return [&column = m_structure.column(source.space, source.key)](Marks& marks, const Range& own) {
            for (std::int64_t row = own.begin; row < own.end; ++row) marks.add(column[row]);
        };
    const graph::Adjacency& adjacency = m_structure.adjacency(on.table, on.key);
    const executor::OwnedColumn& column = m_structure.ownedColumn(on.table, on.key, source.key);
    return [&adjacency, &column](Marks& marks, const Range& own) {
        for (std::int64_t p = adjacency.begin(own.begin); p < adjacency.begin(own.end); ++p) marks.add(column[p]);
    };
}

Counts ClassCounts::atMost(const plan::Loop& loop, const RowClass& rows, std::int64_t size)
{
    if (rows.kind != RowKind::Frontier) return of(loop, rows, size);
    const std::int64_t table = m_structure.size(rows.table);
    Counts counts = batches(loop, size);
    if (rows.table != loop.destination) std::ranges::fill(counts.perBatch, 0);
    for (const plan::FrontierSource& source : loop.frontier) {
        if (source.type != rows.table) continue;
        const Counts asking = of(loop, analysis::owned(m_analysis, source.space, source.owner), size);
        for (std::size_t i = 0; i < counts.perBatch.size(); ++i) counts.perBatch[i] += asking.perBatch[i];
    }
    for (std::int64_t& n : counts.perBatch) n = std::min(n, table);
    return summed(std::move(counts.perBatch));
}

}  // namespace hopscope::forecast

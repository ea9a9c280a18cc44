#include "executor/forecast/loop_memory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "executor/calls/dense_shape.h"

namespace hopscope::forecast {

using Events = std::vector<executor::AllocationTrace::Event>;
using Sizes = std::vector<double>;  // of one block, by batch

namespace {

constexpr std::size_t givenBack = static_cast<std::size_t>(-1);
constexpr std::size_t mostTerms = 3;
constexpr double exact = 0.5;  // bytes

bool sameOrder(const Events& a, const Events& b)
{
    return std::ranges::equal(
        a, b, [](const auto& x, const auto& y) { return x.block == y.block && (x.bytes == 0) == (y.bytes == 0); });
}

// The largest group of batches with the same sequence of events; among groups of that size, the one with the most
// events.
std::vector<const ProbedBatch*> alike(const std::vector<ProbedBatch>& batches)
{
    std::vector<const ProbedBatch*> best;
    for (const ProbedBatch& first : batches) {
        std::vector<const ProbedBatch*> group;
        for (const ProbedBatch& b : batches)
            if (sameOrder(first.events, b.events)) group.push_back(&b);
        const bool more = best.empty() || group.size() > best.size() ||
                          (group.size() == best.size() && first.events.size() > best.front()->events.size());
        if (more) best = std::move(group);
    }
    return best;
}

// Columns by batch: the rows of each class, then those of products of each.
std::vector<Sizes> columnsOf(const std::vector<const ProbedBatch*>& batches, const std::vector<ir::RowClass>& classes)
{
    std::vector<Sizes> columns(2 * classes.size());
    for (std::size_t c = 0; c < classes.size(); ++c)
        for (const ProbedBatch* b : batches) {
            const std::int64_t rows = b->rows.at(classes[c]);
            columns[c].push_back(static_cast<double>(rows));
            columns[classes.size() + c].push_back(static_cast<double>(executor::markedRows(rows)));
        }
    return columns;
}

Sizes sizesOf(const std::vector<const ProbedBatch*>& batches, std::size_t event)
{
    Sizes sizes;
    for (const ProbedBatch* b : batches) sizes.push_back(static_cast<double>(b->events[event].bytes));
    return sizes;
}

// The rows of a class for each destination, if they are equally many in all batches.
std::optional<double> evenly(const std::vector<const ProbedBatch*>& batches, const ir::RowClass& rows,
                             const ir::RowClass& destinations)
{
    const auto each = [&](const ProbedBatch* b) {
        const std::int64_t most = std::max<std::int64_t>(b->rows.at(destinations), 1);
        return static_cast<double>(b->rows.at(rows)) / static_cast<double>(most);
    };
    const double first = each(batches.front());
    const auto same = [&](const ProbedBatch* b) { return each(b) == first; };
    return std::ranges::all_of(batches, same) ? std::optional(first) : std::nullopt;
}

using Matrix = std::array<std::array<double, mostTerms + 1>, mostTerms>;

// Gauss with pivots; false where the columns depend on each other.
bool solve(Matrix& m, std::size_t n)
{
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r)
            if (std::abs(m[r][c]) > std::abs(m[pivot][c])) pivot = r;
        if (std::abs(m[pivot][c]) < 1e-6) return false;
        std::swap(m[c], m[pivot]);
        for (std::size_t r = 0; r < n; ++r) {
            const double factor = r == c ? 0 : m[r][c] / m[c][c];
            for (std::size_t k = c; k <= n && factor != 0; ++k) m[r][k] -= factor * m[c][k];
        }
    }
    for (std::size_t c = 0; c < n; ++c) m[c][n] /= m[c][c];
    return true;
}

}  // namespace

std::int64_t peakOf(const Events& events)
{
    std::map<std::int32_t, std::int64_t> held;
    std::int64_t now = 0, most = 0;
    for (const executor::AllocationTrace::Event& event : events) {
        now -= std::exchange(held[event.block], 0);
        if (event.bytes > 0) now += held[event.block] = executor::countedBytes(event.bytes);
        most = std::max(most, now);
    }
    return most;
}

// Explains sizes by as few terms as possible: rows of a class, or a constant.
class SizeFinder {
public:
    // Columns: the rows of each class by batch, then those of products of each. The constant comes last.
    explicit SizeFinder(std::vector<Sizes> columns) : m_columns(std::move(columns))
    {
        m_columns.emplace_back(m_columns.empty() ? 0 : m_columns.front().size(), 1.0);
    }

    std::optional<LoopMemory::Size> find(const Sizes& sizes)
    {
        if (auto size = fit(sizes, {m_columns.size() - 1})) return size;
        for (std::size_t terms = 1; terms <= mostTerms; ++terms)
            if (auto size = amongst(sizes, {}, terms)) return size;
        return std::nullopt;
    }

private:
    using Terms = std::vector<std::size_t>;

    std::optional<LoopMemory::Size> amongst(const Sizes& sizes, const Terms& chosen, std::size_t more) const
    {
        if (more == 0) return fit(sizes, chosen);
        for (std::size_t c = chosen.empty() ? 0 : chosen.back() + 1; c < m_columns.size(); ++c) {
            Terms terms = chosen;
            terms.push_back(c);
            if (auto size = amongst(sizes, terms, more - 1)) return size;
        }
        return std::nullopt;
    }

    [[nodiscard]] double product(const Sizes& a, const Sizes& b) const
    {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
        return sum;
    }

    [[nodiscard]] std::optional<LoopMemory::Size> fit(const Sizes& sizes, const Terms& terms) const
    {
        Matrix m{};
        for (std::size_t r = 0; r < terms.size(); ++r) {
            for (std::size_t c = 0; c < terms.size(); ++c) m[r][c] = product(m_columns[terms[r]], m_columns[terms[c]]);
            m[r][terms.size()] = product(m_columns[terms[r]], sizes);
        }
        if (!solve(m, terms.size())) return std::nullopt;
        LoopMemory::Size size;
        for (std::size_t r = 0; r < terms.size(); ++r) {
            const double perRow = std::round(m[r][terms.size()] * 2) / 2;  // halves: a class may hold each row twice
            if (perRow <= 0) return std::nullopt;
            if (terms[r] + 1 == m_columns.size()) size.constant = perRow;
            else size.perRow.emplace_back(terms[r], perRow);
        }
        return explains(size, sizes) ? std::optional(size) : std::nullopt;
    }

    [[nodiscard]] bool explains(const LoopMemory::Size& size, const Sizes& sizes) const
    {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            double bytes = size.constant;
            for (const auto& [column, perRow] : size.perRow) bytes += perRow * m_columns[column][i];
            if (std::abs(bytes - sizes[i]) > exact) return false;
        }
        return true;
    }

    std::vector<Sizes> m_columns;
};

std::optional<LoopMemory> LoopMemory::learn(const Probed& probed)
{
    const std::vector<const ProbedBatch*> group = alike(probed.batches);
    if (group.size() < 2) return std::nullopt;
    LoopMemory memory;
    memory.m_reduced = probed.reduced;
    memory.m_gpu = probed.gpu;
    memory.m_whole = probed.whole;
    for (const auto& [rows, count] : group.front()->rows) {
        memory.m_classes.push_back(rows);
        if (rows.kind == ir::RowKind::Batch) memory.m_batch = rows;
    }
    for (const ir::RowClass& rows : memory.m_classes)
        if (const auto each = evenly(group, rows, memory.m_batch)) memory.m_even.emplace_back(rows, *each);
    SizeFinder finder(columnsOf(group, memory.m_classes));
    std::map<Sizes, std::size_t> kinds;
    for (std::size_t e = 0; e < group.front()->events.size(); ++e) {
        const Sizes sizes = sizesOf(group, e);
        const auto [it, fresh] = kinds.emplace(sizes, sizes.front() == 0 ? givenBack : memory.m_sizes.size());
        if (fresh && it->second != givenBack) {
            const std::optional<Size> size = finder.find(sizes);
            if (!size) return std::nullopt;
            memory.m_sizes.push_back(*size);
        }
        const auto block = static_cast<std::size_t>(group.front()->events[e].block);
        memory.m_events.emplace_back(block, it->second);
        memory.m_blocks = std::max(memory.m_blocks, block + 1);
    }
    return memory;
}

bool LoopMemory::knows(const executor::CountOf& count) const
{
    const double destinations = count(m_batch);
    return std::ranges::all_of(m_even,
                               [&](const auto& even) { return count(even.first) <= even.second * destinations + 0.5; });
}

double LoopMemory::peak(const executor::CountOf& count, bool first) const
{
    std::vector<double> rows, bytes;
    for (const ir::RowClass& c : m_classes) rows.push_back(count(c));
    for (std::size_t c = 0; c < m_classes.size(); ++c)
        rows.push_back(static_cast<double>(executor::rowsInSteps(std::llround(std::ceil(rows[c])))));
    for (const Size& size : m_sizes) {
        double wanted = size.constant;
        for (const auto& [column, perRow] : size.perRow) wanted += perRow * rows[column];
        const auto whole = static_cast<std::int64_t>(wanted);
        bytes.push_back(wanted > 0
                            ? static_cast<double>(m_gpu ? executor::countedOnGpu(whole) : executor::countedBytes(whole))
                            : 0);
    }
    std::vector<double> held(m_blocks, 0);
    double now = first ? 0 : static_cast<double>(m_reduced), most = now;
    for (const auto& [block, kind] : m_events) {
        if (kind == givenBack) {
            now -= held[block];
            continue;
        }
        now += held[block] = bytes[kind];
        most = std::max(most, now);
    }
    return most;
}

}  // namespace hopscope::forecast

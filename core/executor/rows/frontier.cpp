#include "executor/rows/frontier.h"

#include <algorithm>
#include <atomic>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "executor/rows/row_numbers.h"

namespace hopscope::executor {

namespace {

constexpr std::int32_t asked = -1;
constexpr std::int64_t groupRows = 256;
constexpr std::int64_t partGroups = 64;  // groups that one task looks through
constexpr std::int64_t grain = 1 << 14;  // questions

at::Tensor numbers(std::int64_t count) { return at::empty({count}, at::TensorOptions().dtype(at::kLong)); }

std::int64_t parts(std::int64_t groups) { return (groups + partGroups - 1) / partGroups; }

}  // namespace

FrontierNumbers::FrontierNumbers(std::int32_t* entries, std::int64_t size)
    : m_entries(entries),
      m_size(size),
      m_asked(static_cast<std::size_t>((size + groupRows - 1) / groupRows))
{}

void FrontierNumbers::own(const at::Tensor& rows)
{
    checkLocalRows(rows.numel());
    m_own = rows;
    const auto* from = rows.const_data_ptr<std::int64_t>();
    at::parallel_for(0, rows.numel(), grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) m_entries[from[i]] = static_cast<std::int32_t>(i + 1);
    });
}

// Several threads may store the same mark.
void FrontierNumbers::ask(const at::Tensor& rows)
{
    m_questions += rows.numel();
    const auto* from = rows.const_data_ptr<std::int64_t>();
    at::parallel_for(0, rows.numel(), grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const std::atomic_ref entry(m_entries[from[i]]);
            if (entry.load(std::memory_order_relaxed) != 0) continue;
            entry.store(asked, std::memory_order_relaxed);
            std::atomic_ref(m_asked[static_cast<std::size_t>(from[i] / groupRows)]).store(1, std::memory_order_relaxed);
        }
    });
}

template <class Each>
void FrontierNumbers::eachAsked(std::int64_t part, Each&& each) const
{
    const auto groups = static_cast<std::int64_t>(m_asked.size());
    for (std::int64_t g = part * partGroups; g < std::min((part + 1) * partGroups, groups); ++g) {
        if (!m_asked[static_cast<std::size_t>(g)]) continue;
        for (std::int64_t row = g * groupRows; row < std::min((g + 1) * groupRows, m_size); ++row)
            if (m_entries[row] == asked) each(row);
    }
}

// A few requests are handled sooner than another thread wakes up.
std::int64_t FrontierNumbers::partsAtOnce(std::int64_t count) const { return m_questions < grain ? count : 1; }

// The local number of the first row in each part, and after the last one.
std::vector<std::int64_t> FrontierNumbers::firstOfParts() const
{
    const std::int64_t count = parts(static_cast<std::int64_t>(m_asked.size()));
    std::vector<std::int64_t> first(static_cast<std::size_t>(count) + 1);
    at::parallel_for(0, count, partsAtOnce(count), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t p = from; p < to; ++p)
            eachAsked(p, [&](std::int64_t) { ++first[static_cast<std::size_t>(p) + 1]; });
    });
    first[0] = m_own.defined() ? m_own.numel() : 0;
    for (std::size_t p = 1; p < first.size(); ++p) first[p] += first[p - 1];
    return first;
}

at::Tensor FrontierNumbers::rows()
{
    const std::vector<std::int64_t> first = firstOfParts();
    checkLocalRows(first.back());
    at::Tensor all = numbers(first.back());
    if (m_own.defined()) all.narrow(0, 0, m_own.numel()).copy_(m_own);
    auto* const to = all.mutable_data_ptr<std::int64_t>();
    const std::int64_t count = static_cast<std::int64_t>(first.size()) - 1;
    at::parallel_for(0, count, partsAtOnce(count), [&](std::int64_t from, std::int64_t last) {
        for (std::int64_t p = from; p < last; ++p) {
            std::int64_t next = first[static_cast<std::size_t>(p)];
            eachAsked(p, [&](std::int64_t row) {
                to[next] = row;
                m_entries[row] = static_cast<std::int32_t>(++next);
            });
        }
    });
    return all;
}

at::Tensor FrontierNumbers::positions(const at::Tensor& rows) const
{
    at::Tensor local = numbers(rows.numel());
    const auto* from = rows.const_data_ptr<std::int64_t>();
    auto* const to = local.mutable_data_ptr<std::int64_t>();
    at::parallel_for(0, rows.numel(), grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) to[i] = m_entries[from[i]] - 1;
    });
    return local;
}

void FrontierNumbers::forget()
{
    for (std::size_t g = 0; g < m_asked.size(); ++g) {
        if (!m_asked[g]) continue;
        const std::int64_t first = static_cast<std::int64_t>(g) * groupRows;
        std::fill(m_entries + first, m_entries + std::min(first + groupRows, m_size), 0);
    }
    if (!m_own.defined()) return;
    const auto* from = m_own.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < m_own.numel(); ++i) m_entries[from[i]] = 0;
}

}  // namespace hopscope::executor

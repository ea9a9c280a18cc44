#include "analysis/roles/number_columns.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/roles/int_column.h"

namespace hopscope::analysis {

namespace {

double numberAt(const base::TensorView& view, std::int64_t at)
{
    const std::byte* from = view.data + at * static_cast<std::int64_t>(base::itemSize(view.dtype));
    if (view.dtype == base::DType::Float64) return IntColumn::loaded<double>(from);
    if (view.dtype == base::DType::Float32) return static_cast<double>(IntColumn::loaded<float>(from));
    base::TensorView one = view;
    one.shape = one.strides = {1};
    one.data = from;
    return static_cast<double>(IntColumn(one)[0]);
}

// The largest number from dimension `dim` on, behind the element `at`.
double largestFrom(const base::TensorView& view, std::size_t dim, std::int64_t at)
{
    if (dim == view.shape.size()) return numberAt(view, at);
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < view.shape[dim]; ++i)
        largest = std::max(largest, largestFrom(view, dim + 1, at + i * view.strides[dim]));
    return largest;
}

// The rows that hold the largest number, in ascending order; the first `most` of them.
std::vector<std::int64_t> rowsOfLargest(const base::TensorView& view, std::size_t most)
{
    std::vector<std::int64_t> rows;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::int64_t row = 0; row < view.shape[0]; ++row) {
        const double number = largestFrom(view, 1, row * view.strides[0]);
        if (number > largest) rows.clear(), largest = number;
        if (number == largest && rows.size() < most) rows.push_back(row);
    }
    return rows;
}

}  // namespace

void NumberColumns::add(const std::string& table, const base::TensorView& view)
{
    if (view.shape.empty() || view.elements() == 0) return;
    const bool floats = view.dtype == base::DType::Float32 || view.dtype == base::DType::Float64;
    if (base::isIntegral(view.dtype) || (floats && view.elements() == view.shape[0])) m_columns[table].push_back(view);
}

std::vector<std::pair<std::string, std::int64_t>> NumberColumns::largest() const
{
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const auto& [table, columns] : m_columns)
        for (const base::TensorView& column : columns)
            for (const std::int64_t row : rowsOfLargest(column, 1)) found.emplace_back(table, row);
    return found;
}

void NumberColumns::leaveOut(const std::string& table, std::int64_t rows)
{
    const auto columns = m_columns.find(table);
    if (columns == m_columns.end()) return;
    RowSet& out = m_leftOut.emplace(table, RowSet(rows)).first->second;
    for (const base::TensorView& column : columns->second) {
        RowSet more = out;
        for (const std::int64_t row : rowsOfLargest(column, static_cast<std::size_t>(rows))) more.add(row);
        if (more.count() < rows) out = std::move(more);
    }
}

std::vector<std::int64_t> NumberColumns::others(const std::string& table, std::vector<std::int64_t> rows) const
{
    std::vector<std::int64_t> rest;
    for (const std::int64_t row : rows)
        if (!leftOut(table, row)) rest.push_back(row);
    return rest.empty() ? rows : rest;
}

}  // namespace hopscope::analysis

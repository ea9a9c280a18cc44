#include "debugger/difference.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace hopscope::debugger {

namespace {

constexpr std::int64_t piece = 1 << 20;  // elements at once

// One row per row, one column per number.
at::Tensor flat(const at::Tensor& tensor, int rowDim)
{
    if (rowDim < 0) return tensor.reshape({1, -1});
    const at::Tensor rows = tensor.movedim(rowDim, 0);
    return rows.reshape({rows.size(0), rows.size(0) > 0 ? rows.numel() / rows.size(0) : 0});
}

std::string mismatchOf(const at::Tensor& first, const at::Tensor& second)
{
    if (first.scalar_type() != second.scalar_type())
        return std::string("dtype ") + at::toString(first.scalar_type()) + ", " + at::toString(second.scalar_type());
    if (first.sizes() == second.sizes()) return {};
    std::string text = "shape";
    for (const at::Tensor* const t : {&first, &second}) {
        text += t == &first ? " [" : ", [";
        for (std::int64_t d = 0; d < t->dim(); ++d) text += (d > 0 ? " x " : "") + std::to_string(t->size(d));
        text += "]";
    }
    return text;
}

double most(const at::Tensor& numbers) { return numbers.numel() > 0 ? numbers.max().item<double>() : 0; }

void showRows(const at::Tensor& bad, const at::Tensor& a, const at::Tensor& b, const at::Tensor& gap,
              std::int64_t firstRow, Difference& difference)
{
    const at::Tensor rows = bad.any(1).nonzero().flatten();
    difference.rows += rows.numel();
    for (std::int64_t i = 0; i < rows.numel() && difference.shown.size() < mostRowsShown; ++i) {
        const auto row = rows[i].item<std::int64_t>();
        const auto element = at::where(bad[row], gap[row], -1.0).argmax().item<std::int64_t>();
        difference.shown.push_back({.row = firstRow + row,
                                    .element = element,
                                    .first = a[row][element].item<double>(),
                                    .second = b[row][element].item<double>()});
    }
}

void comparePiece(const at::Tensor& first, const at::Tensor& second, const schema::ToleranceRecord& tolerance,
                  std::int64_t firstRow, Difference& difference)
{
    const at::Tensor a = first.to(at::kDouble), b = second.to(at::kDouble);
    const bool numbers = first.is_floating_point();
    at::Tensor same = a.eq(b);
    if (numbers) same = same.logical_or(a.isnan().logical_and(b.isnan()));
    const at::Tensor gap = at::where(same, 0.0, a.sub(b).abs()).nan_to_num(std::numeric_limits<double>::infinity());
    const at::Tensor allowed = numbers ? b.abs().mul(tolerance.relative).add(tolerance.absolute) : at::zeros_like(gap);
    const at::Tensor bad = same.logical_or(gap.le(allowed).logical_and(b.isfinite())).logical_not();
    difference.maxAbsolute = std::max(difference.maxAbsolute, most(gap));
    const at::Tensor scale = b.abs();
    const at::Tensor relative = at::where(scale.gt(tolerance.absolute), gap.div(scale), 0.0).nan_to_num(0.0);
    difference.maxRelative = std::max(difference.maxRelative, most(relative));
    if (bad.any().item<bool>()) showRows(bad, a, b, gap, firstRow, difference);
}

// work(rows from, count).
template <class Work>
void inPieces(const at::Tensor& table, Work&& work)
{
    const std::int64_t rows = table.size(0),
                       step = std::max<std::int64_t>(1, piece / std::max<std::int64_t>(1, table.size(1)));
    for (std::int64_t row = 0; row < rows; row += step) work(row, std::min(step, rows - row));
}

}  // namespace

Difference differenceOf(const at::Tensor& first, const at::Tensor& second, int rowDim,
                        const schema::ToleranceRecord& tolerance)
{
    Difference difference{.mismatch = mismatchOf(first, second), .shown = {}};
    if (!difference.mismatch.empty()) return difference;
    const at::Tensor a = flat(first, rowDim), b = flat(second, rowDim);
    difference.of = a.size(0);
    if (a.numel() == 0) return difference;
    inPieces(a, [&](std::int64_t row, std::int64_t count) {
        comparePiece(a.narrow(0, row, count), b.narrow(0, row, count), tolerance, row, difference);
    });
    return difference;
}

NonFinite nonFinite(const at::Tensor& tensor, int rowDim)
{
    NonFinite found;
    if (!tensor.is_floating_point() || tensor.numel() == 0) return found;
    const at::Tensor table = flat(tensor, rowDim);
    inPieces(table, [&](std::int64_t row, std::int64_t count) {
        const at::Tensor part = table.narrow(0, row, count);
        const at::Tensor bad = part.isfinite().logical_not();
        if (!bad.any().item<bool>()) return;
        found.nan += part.isnan().sum().item<std::int64_t>();
        found.infinite += part.isinf().sum().item<std::int64_t>();
        const at::Tensor rows = bad.any(1).nonzero().flatten();
        for (std::int64_t i = 0; i < rows.numel() && found.shown.size() < mostRowsShown; ++i) {
            const auto r = rows[i].item<std::int64_t>();
            const auto element = bad[r].to(at::kInt).argmax().item<std::int64_t>();
            found.shown.push_back(
                {.row = row + r, .element = element, .first = part[r][element].item<double>(), .second = 0});
        }
    });
    return found;
}

}  // namespace hopscope::debugger

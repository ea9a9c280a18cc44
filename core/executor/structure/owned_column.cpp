#include "executor/structure/owned_column.h"

#include <algorithm>

#include "base/parallel.h"
#include "executor/failure.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t grain = 1 << 16;

}  // namespace

OwnedColumn OwnedColumn::ofSize(std::int64_t rows, bool wide, const graph::Scratch& scratch)
{
    const std::int64_t bytes = std::max<std::int64_t>(rows, 1) * (wide ? 8 : 4);
    return {.bytes = unwrap(scratch.allocate(bytes, graph::Fill::Any)), .wide = wide};
}

std::optional<OwnedColumn> OwnedColumn::inPlace(const Column& column, const graph::Adjacency& order)
{
    if (!order.inOrder() || !column.given || column.stride != 1 || column.rows != order.rows()) return std::nullopt;
    auto* const first = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(column.data));
    return OwnedColumn{.bytes = {std::const_pointer_cast<void>(column.owner), first}, .wide = true};
}

OwnedColumn arranged(const OwnedColumn& column, const graph::Adjacency& from, const graph::Adjacency& to,
                     const std::int64_t* order, bool wide, const graph::Scratch& scratch, int threads)
{
    OwnedColumn made = OwnedColumn::ofSize(from.rows(), wide, scratch);
    made.with([&](auto* target) {
        column.with([&](const auto* source) { graph::arrange(from, to, order, source, target, threads); });
    });
    return made;
}

OwnedColumn inPlaces(const OwnedColumn& column, std::int64_t rows, const std::int64_t* places, bool wide,
                     const graph::Scratch& scratch, int threads)
{
    OwnedColumn made = OwnedColumn::ofSize(rows, wide, scratch);
    made.with([&]<class Number>(Number* to) {
        column.with([&](const auto* from) {
            base::parallelParts(rows, threads, grain, [&](int, std::int64_t first, std::int64_t last) {
                for (std::int64_t p = first; p < last; ++p) to[p] = static_cast<Number>(places[from[p]]);
            });
        });
    });
    return made;
}

}  // namespace hopscope::executor

#include "executor/owned_column.h"

#include <algorithm>

#include "base/parallel.h"
#include "executor/failure.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t grain = 1 << 16;

}  // namespace

OwnedColumn OwnedColumn::ofSize(std::int64_t rows, bool wide, const graph::Scratch& scratch)
{
    return {.bytes = unwrap(scratch.allocate(std::max<std::int64_t>(rows, 1) * (wide ? 8 : 4))), .wide = wide};
}

OwnedColumn arranged(const OwnedColumn& column, const graph::Adjacency& from, const graph::Adjacency& to,
                     const graph::NodeOrder& order, const graph::Scratch& scratch, int threads)
{
    OwnedColumn made = OwnedColumn::ofSize(from.rows(), column.wide, scratch);
    made.with([&]<class Number>(Number* target) {
        const auto* const source = reinterpret_cast<const Number*>(column.bytes.get());
        graph::arrange(from, to, order.data(), source, target, threads);
    });
    return made;
}

OwnedColumn inPlaces(const OwnedColumn& column, std::int64_t rows, const std::int64_t* places,
                     const graph::Scratch& scratch, int threads)
{
    OwnedColumn made = OwnedColumn::ofSize(rows, column.wide, scratch);
    made.with([&]<class Number>(Number* to) {
        const auto* const from = reinterpret_cast<const Number*>(column.bytes.get());
        base::parallelParts(rows, threads, grain, [&](int, std::int64_t first, std::int64_t last) {
            for (std::int64_t p = first; p < last; ++p) to[p] = static_cast<Number>(places[from[p]]);
        });
    });
    return made;
}

}  // namespace hopscope::executor

#include "analysis/roles/relabel.h"

#include <algorithm>

namespace hopscope::analysis {

base::TensorView offsetsOf(const base::TensorView& offsets, EdgeForm form, const Members& targets,
                           const IntColumn& ends, const Members& edges)
{
    const auto rows = static_cast<std::int64_t>(targets.size());
    base::OwnedTensor out = base::allocate(offsets.dtype, {rows + extraOffsets(form)});
    out.view.origin = offsets.origin;
    std::size_t at = 0;
    storeOffsets(out.bytes, offsets.dtype, form, rows, [&](std::int64_t row) {
        while (row > 0 && at < edges.size() && ends[edges[at]] == targets[static_cast<std::size_t>(row - 1)]) ++at;
        return static_cast<std::int64_t>(at);
    });
    return out.view;
}

std::string groupedTable(const base::TensorView& view, const InputSchema& schema)
{
    if (view.shape.size() != 1 || view.shape[0] < 2 || !base::isIntegral(view.dtype)) return {};
    const IntColumn numbers(view);
    std::int64_t before = numbers[0];
    if (before != 0) return {};
    for (std::int64_t i = 1; i < numbers.size(); before = numbers[i++])
        if (numbers[i] < before) return {};
    const auto table = std::ranges::find_if(
        schema.sizes, [&](const auto& size) { return size.second == before && isNodeTable(schema, size.first); });
    return table == schema.sizes.end() ? std::string() : table->first;
}

base::TensorView groupOffsets(const base::TensorView& offsets, const Members& rows)
{
    base::OwnedTensor out = base::allocate(offsets.dtype, offsets.shape);
    out.view.origin = offsets.origin;
    const IntColumn numbers(offsets);
    const auto size = static_cast<std::int64_t>(base::itemSize(offsets.dtype));
    for (std::int64_t i = 0; i < numbers.size(); ++i)
        storeInteger(out.bytes + i * size, offsets.dtype, rankIn(rows, numbers[i]));
    return out.view;
}

namespace {

struct Ranks {
    const Members& targets;
    std::int64_t all;

    [[nodiscard]] std::int64_t operator()(std::int64_t id) const
    {
        const auto count = static_cast<std::int64_t>(targets.size());
        if (id < 0) return id;
        return id >= all ? count : std::min(rankIn(targets, id), count - 1);
    }
};

}  // namespace

base::TensorView relabelKey(const base::TensorView& key, const Members& rows, const Members& targets, std::int64_t all)
{
    std::vector<std::int64_t> shape = key.shape;
    shape[0] = static_cast<std::int64_t>(rows.size());
    base::OwnedTensor out = base::allocate(key.dtype, shape);
    out.view.origin = key.origin;
    const Ranks rank{targets, all};
    std::byte* to = out.bytes;
    const auto store = [&](std::int64_t id) {
        storeInteger(to, key.dtype, rank(id));
        to += base::itemSize(key.dtype);
    };
    const bool several = shape.size() > 1;
    for (const std::int64_t row : rows) {
        const IntColumn ids = several ? IntColumn(key, row, 0) : IntColumn(key);
        for (std::int64_t k = 0; k < (several ? ids.size() : 1); ++k) store(ids[several ? k : row]);
    }
    return out.view;
}

}  // namespace hopscope::analysis

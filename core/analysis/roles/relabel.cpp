#include "analysis/roles/relabel.h"

namespace hopscope::analysis {

base::TensorView offsetsOf(const base::TensorView& offsets, const Members& targets, const IntColumn& ends,
                           const Members& edges)
{
    base::OwnedTensor out = base::allocate(offsets.dtype, {static_cast<std::int64_t>(targets.size()) + 1});
    out.view.origin = offsets.origin;
    std::byte* to = out.bytes;
    std::size_t at = 0;
    for (const std::int64_t row : targets) {
        while (at < edges.size() && ends[edges[at]] == row) ++at;
        storeInteger(to += base::itemSize(offsets.dtype), offsets.dtype, static_cast<std::int64_t>(at));
    }
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

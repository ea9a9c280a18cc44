#include "schema/inspect.h"

namespace hopscope::schema {

namespace {

using analysis::Analysis;
using analysis::Space;
using analysis::SpaceId;
using analysis::SpaceKind;
using Sizes = std::map<SpaceId, std::int64_t>;

std::optional<std::int64_t> sizeOf(const Space& space, const Sizes& known,
                                   const std::map<std::string, std::int64_t>& declared)
{
    if (space.rows > 0) return space.rows;
    if (space.kind == SpaceKind::Node || space.kind == SpaceKind::Edge || space.kind == SpaceKind::Graph) {
        const auto it = declared.find(space.name);
        return it == declared.end() ? std::nullopt : std::optional(it->second);
    }
    if (space.kind == SpaceKind::Perm)
        return known.contains(space.parent) ? std::optional(known.at(space.parent)) : std::nullopt;
    if (space.kind != SpaceKind::Cat) return std::nullopt;
    std::int64_t total = 0;
    for (SpaceId part : space.parts) {
        if (!known.contains(part)) return std::nullopt;
        total += known.at(part);
    }
    return total;
}

}  // namespace

// Tables are interned after those they are derived from, so one pass in order is enough.
Sizes tableSizes(const Analysis& analysis, const std::map<std::string, std::int64_t>& declared, const Sizes& counted)
{
    Sizes sizes = counted;
    for (std::size_t i = 0; i < analysis.tables.spaces.size(); ++i)
        if (const auto size = sizeOf(analysis.tables.spaces[i], sizes, declared)) sizes[SpaceId(i)] = *size;
    return sizes;
}

std::optional<std::int64_t> wholeBytes(const Analysis& analysis, ir::ValueId id, const Sizes& sizes)
{
    const ir::Value& value = analysis.program.value(id);
    const std::vector<SpaceId>& dims = analysis.info(id).dims;
    if (value.kind != ir::ValueKind::Tensor || value.layoutSparse) return std::nullopt;
    auto bytes = static_cast<std::int64_t>(base::itemSize(value.dtype));
    for (std::size_t i = 0; i < value.shape.size(); ++i) {
        const bool rows = i < dims.size() && dims[i].valid();
        if (rows && !sizes.contains(dims[i])) return std::nullopt;
        bytes *= rows ? sizes.at(dims[i]) : value.shape[i];
    }
    return bytes;
}

void fillBytes(plan::Plan& plan, const Analysis& analysis, const Sizes& sizes)
{
    for (plan::Checkpoint& checkpoint : plan.checkpoints)
        if (!sizes.empty()) checkpoint.bytesWritten = wholeBytes(analysis, checkpoint.value, sizes);
}

}  // namespace hopscope::schema

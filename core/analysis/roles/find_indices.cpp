#include "analysis/roles/role_inference.h"

#include <limits>

namespace hopscope::analysis::inference {

namespace {

using base::ErrorCode;

base::Status scanIndex(Item& item)
{
    for (int row = 0; row < 2; ++row) {
        const IntColumn column(*item.view, row);
        item.ranges[row] = rangeOf(column);
        if (item.ranges[row].low >= 0) continue;
        return checkIds(item, column, std::to_string(row) + ", ", std::numeric_limits<std::int64_t>::max(), {});
    }
    return {};
}

}  // namespace

base::Status findIndices(Draft& draft)
{
    for (Item& item : draft.items) {
        const bool pair = item.view->shape.size() == 2 && item.view->shape[0] == 2;
        const bool wanted =
            item.is(RoleKind::Index) || item.sparsePart("coo_indices") || (item.open() && item.hint == Hint::Index);
        const bool free = item.open() && item.hint == Hint::None;
        if (!pair || !item.integral()) {
            const bool clear =
                item.is(RoleKind::Index) || (item.open() && item.key.find("edge_index") != std::string::npos &&
                                             !item.vector() && item.name.item.find("coo_") == std::string::npos);
            if (!clear || !wanted) continue;
            return base::fail(ErrorCode::Input,
                              item.key + " is " + base::dtypeName(item.view->dtype) + " " + shapeText(*item.view) +
                                  ", but an edge index is an integer [2, E]",
                              item.integral() ? "transpose it" : "store it as int64", item.view->origin);
        }
        if (!wanted &&
            (!free || rangeOf(IntColumn(*item.view, 0)).low < 0 || rangeOf(IntColumn(*item.view, 1)).low < 0))
            continue;
        item.role.kind = RoleKind::Index;
        item.role.relation = item.relation();
        item.decided = true;
        if (auto status = scanIndex(item); !status) return status;
    }
    return {};
}

}  // namespace hopscope::analysis::inference

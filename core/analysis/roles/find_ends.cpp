#include "analysis/roles/role_inference.h"

#include <tuple>

namespace hopscope::analysis::inference {

namespace {

using base::ErrorCode;

void setEnds(Draft& draft, Item& item, const std::string& first, const std::string& second)
{
    item.role.first = first;
    item.role.second = second;
    const std::string* ends[2] = {&first, &second};
    for (int row = 0; row < 2; ++row) {
        if (draft.nodes.has(*ends[row]) || !hasEnd(item.role.form, row)) continue;
        draft.nodes.addLoose(*ends[row], item.ranges[row].high + 1);
    }
}

// Ends that the key itself spells out: "user_item_index", "edge_index_user", or tables called src and dst.
std::pair<std::string, std::string> namedEnds(const Draft& draft, const Item& item)
{
    std::vector<std::string> spelled;
    for (const std::string& word : names::words(item.key))
        if (draft.nodes.has(word) && word != "node") spelled.push_back(word);
    if (spelled.size() >= 2) return {spelled[0], spelled[1]};
    const auto fits = [&](int row, const std::string& type) { return draft.nodes.rows(type) > item.ranges[row].high; };
    if (spelled.size() == 1 && spelled[0] != "hyperedge" && fits(0, spelled[0]) && fits(1, spelled[0]))
        return {spelled[0], spelled[0]};
    if (draft.nodes.has("src") && draft.nodes.has("dst")) return {"src", "dst"};
    return {};
}

// The input that has the end of the item's edges: itself, or the other column.
const Item& endOf(const Draft& draft, const Item& item, int end)
{
    if (hasEnd(item.role.form, end)) return item;
    return *std::ranges::find_if(draft.items, [&](const Item& i) {
        return i.is(RoleKind::Index) && i.role.relation == item.role.relation && hasEnd(i.role.form, end);
    });
}

// The table whose rows the offsets count: they are never more nor less.
std::string pickRows(const Draft& draft, const Item& offsets)
{
    for (const std::string& type : draft.nodes.types())
        if (draft.nodes.rows(type) == offsets.rows() - 1) return type;
    return draft.nodes.types().empty() ? "node" : offsets.key;
}

// The table with the least room above the largest id; a table that is too small only where all are.
std::string pickEnd(const Draft& draft, const Item& item, int row)
{
    if (item.role.form == EdgeForm::Offsets) return pickRows(draft, item);
    std::string best;
    const auto consider = [&](const std::string& type) {
        const std::int64_t room = draft.nodes.rows(type) - 1 - item.ranges[row].high;
        if (best.empty()) best = type;
        const std::int64_t bestRoom = draft.nodes.rows(best) - 1 - item.ranges[row].high;
        if (room >= 0 ? bestRoom < 0 || room < bestRoom : bestRoom < 0 && room > bestRoom) best = type;
    };
    for (const std::string& type : draft.nodes.types())
        if (!draft.edgeTables.contains(type)) consider(type);
    const bool fits = !best.empty() && draft.nodes.rows(best) > item.ranges[row].high;
    for (const std::string& type : draft.edgeTables)
        if (!fits && type != item.role.relation) consider(type);
    return best.empty() ? "node" : best;
}

// A sparse tensor states its own size; that counts where no table does.
base::Status applySparseSizes(Draft& draft)
{
    for (const Item& item : draft.items) {
        const bool compressed = item.sparsePart("csr_col");
        if ((!compressed && !item.sparsePart("coo_indices")) || !item.is(RoleKind::Index)) continue;
        const auto size =
            std::ranges::find(draft.items, item.name.argument + (compressed ? ".csr_size" : ".coo_size"), &Item::key);
        if (size == draft.items.end() || !size->integral() || !size->vector() || size->rows() < 2) continue;
        const IntColumn numbers(*size->view);
        const std::string* ends[2] = {&item.role.first, &item.role.second};
        if (compressed) std::swap(ends[0], ends[1]);  // its rows are the destinations
        for (int row = 0; row < 2; ++row) {
            if (!draft.nodes.has(*ends[row])) draft.nodes.addLoose(*ends[row], numbers[row]);
            else if (draft.nodes.rows(*ends[row]) != numbers[row])
                return base::fail(ErrorCode::Input, size->key + "[" + std::to_string(row) + "] is " +
                                                        std::to_string(numbers[row]) + ", but " +
                                                        draft.nodes.origin(*ends[row]) + " has " +
                                                        std::to_string(draft.nodes.rows(*ends[row])) + " rows");
        }
    }
    return {};
}

}  // namespace

base::Status findEnds(Draft& draft)
{
    for (Item& item : draft.items) {
        if (!item.is(RoleKind::Index)) continue;
        auto [first, second] = names::relationEnds(item.relationItem(), draft.knownTypes);
        const Item& source = endOf(draft, item, 0);
        const InputRole& given = item.role.first.empty() && !source.role.first.empty() ? source.role : item.role;
        if (!given.first.empty()) first = given.first, second = given.second;
        if (first.empty()) std::tie(first, second) = namedEnds(draft, item);
        if (first.empty()) {
            first = pickEnd(draft, endOf(draft, item, 0), 0);
            second = pickEnd(draft, endOf(draft, item, 1), 1);
            if (draft.nodes.types().size() > 1)
                draft.note(item.key + ": assumed to be " + first + " > " + second + ", judging by its largest ids");
        }
        setEnds(draft, item, first, second);
        draft.schema.sizes[item.role.relation] = item.edges();
    }
    return applySparseSizes(draft);
}

base::Status checkIndices(Draft& draft)
{
    for (const Item& item : draft.items) {
        if (!item.is(RoleKind::Index)) continue;
        const std::string* ends[2] = {&item.role.first, &item.role.second};
        for (int row = 0; row < 2; ++row) {
            const std::int64_t size = draft.nodes.sizeOf(*ends[row]);
            if (item.ranges[row].high < size || !hasEnd(item.role.form, row)) continue;
            const IntColumn ids = endColumn(*item.view, item.role.form, row);
            if (auto status = checkIds(item, ids, placeOf(item, row), size, *ends[row]); !status) return status;
        }
    }
    return {};
}

}  // namespace hopscope::analysis::inference

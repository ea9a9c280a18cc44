#include "analysis/roles/role_inference.h"

#include <tuple>

#include "base/units.h"

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

// The input that has the end of the item's edges: itself, or the other column; itself too where it begins bags, whose items
// have one end.
const Item& endOf(const Draft& draft, const Item& item, int end)
{
    if (hasEnd(item.role.form, end)) return item;
    const auto other = std::ranges::find_if(draft.items, [&](const Item& i) {
        return i.is(RoleKind::Index) && i.role.relation == item.role.relation && hasEnd(i.role.form, end);
    });
    return other == draft.items.end() ? item : *other;
}

bool beginsBags(const Draft& draft, const Item& item)
{
    return isCompressed(item.role.form) && !hasSources(draft, item);
}

// Those of x = (sources, destinations), if the ids fit.
std::pair<std::string, std::string> pairEnds(const Draft& draft, const Item& index)
{
    for (const Item& item : draft.items) {
        if (!item.is(RoleKind::Node) || placeInPair(draft, item) != endInPair(index, 0)) continue;
        const Item& other = otherOfPair(draft, item);
        const bool fits = other.is(RoleKind::Node) &&
                          draft.nodes.sizeOf(item.role.first) > endOf(draft, index, 0).ranges[0].high &&
                          draft.nodes.sizeOf(other.role.first) > endOf(draft, index, 1).ranges[1].high;
        if (fits) return {item.role.first, other.role.first};
    }
    return {};
}

// The types that a Dict key names. Rows of a COO matrix are the destinations, as it is multiplied from the left.
std::pair<std::string, std::string> keyEnds(const Draft& draft, const Item& item)
{
    auto [first, second] = names::relationEnds(item.relationItem(), draft.knownTypes);
    const auto counts = [&](int end, const std::string& type) {
        return draft.nodes.sizeOf(type) == item.ranges[end].high + 1;
    };
    const bool asNamed = counts(0, first) && counts(1, second) && !(counts(0, second) && counts(1, first));
    if (item.sparsePart("coo_indices") && !asNamed) std::swap(first, second);
    return {first, second};
}

// The table whose rows the offsets count: they are never more nor less.
std::string pickRows(const Draft& draft, const Item& offsets)
{
    for (const std::string& type : draft.nodes.types())
        if (draft.nodes.rows(type) == offsets.ranges[1].high + 1) return type;
    return draft.nodes.types().empty() ? "node" : offsets.key;
}

// The table with the least room above the largest id; a table that is too small only where all are.
std::string pickEnd(const Draft& draft, const Item& item, int row)
{
    if (isCompressed(item.role.form)) return pickRows(draft, item);
    std::string best;
    const auto consider = [&](const std::string& type) {
        const std::int64_t room = draft.nodes.rows(type) - 1 - item.ranges[row].high;
        if (best.empty()) best = type;
        const std::int64_t bestRoom = draft.nodes.rows(best) - 1 - item.ranges[row].high;
        if (room >= 0 ? bestRoom < 0 || room < bestRoom : bestRoom < 0 && room > bestRoom) best = type;
    };
    for (const std::string& type : draft.nodes.types())
        if (!draft.edgeTables.contains(type) && !draft.requests.contains(type)) consider(type);
    const bool fits = !best.empty() && draft.nodes.rows(best) > item.ranges[row].high;
    for (const std::string& type : draft.edgeTables)
        if (!fits && type != item.role.relation) consider(type);
    return best.empty() ? "node" : best;
}

// The size that a sparse tensor states is that of its tables.
base::Status checkSparseSizes(Draft& draft)
{
    for (const Item& item : draft.items) {
        const Item* const size = sizeOfSparse(draft, item);
        if (!size) continue;
        const bool compressed = item.sparsePart("csr_col");
        const IntColumn numbers(*size->view);
        const std::string* ends[2] = {&item.role.first, &item.role.second};
        if (compressed) std::swap(ends[0], ends[1]);  // its rows are the destinations
        for (int row = 0; row < 2; ++row) {
            if (draft.nodes.has(*ends[row]) && draft.nodes.rows(*ends[row]) != numbers[row])
                return base::fail(ErrorCode::Input, size->key + "[" + std::to_string(row) + "] is " +
                                                        std::to_string(numbers[row]) + ", but " +
                                                        draft.nodes.origin(*ends[row]) + " has " +
                                                        base::counted(draft.nodes.rows(*ends[row]), "row"));
        }
    }
    return {};
}

}  // namespace

base::Status findEnds(Draft& draft)
{
    for (Item& item : draft.items) {
        if (!item.is(RoleKind::Index)) continue;
        auto [first, second] = keyEnds(draft, item);
        const Item& source = endOf(draft, item, 0);
        const InputRole& given = item.role.first.empty() && !source.role.first.empty() ? source.role : item.role;
        if (!given.first.empty()) first = given.first, second = given.second;
        if (first.empty()) std::tie(first, second) = namedEnds(draft, item);
        if (first.empty()) std::tie(first, second) = pairEnds(draft, item);
        if (first.empty()) {
            second = pickEnd(draft, endOf(draft, item, 1), 1);
            first = beginsBags(draft, item) ? second : pickEnd(draft, endOf(draft, item, 0), 0);
            if (draft.nodes.types().size() > 1 && !beginsBags(draft, item))
                draft.note(item.key + ": assumed to be " + first + " > " + second + ", judging by its largest ids");
        }
        setEnds(draft, item, beginsBags(draft, item) ? second : first, second);
        draft.schema.sizes[item.role.relation] = item.edges();
    }
    return checkSparseSizes(draft);
}

base::Status checkIndices(Draft& draft)
{
    for (const Item& item : draft.items) {
        if (!item.is(RoleKind::Index)) continue;
        const std::string* ends[2] = {&item.role.first, &item.role.second};
        for (int row = 0; row < 2; ++row) {
            const std::int64_t size = draft.nodes.sizeOf(*ends[row]);
            if (item.ranges[row].high < size || !hasEnd(item.role.form, row)) continue;
            const IntColumn ids = endColumn(*item.view, item.role.form, row, item.edges());
            if (auto status = checkIds(item, ids, placeOf(item, row), size, *ends[row]); !status) return status;
        }
    }
    return {};
}

}  // namespace hopscope::analysis::inference

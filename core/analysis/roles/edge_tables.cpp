// Tables that no input holds the rows of: edges that other inputs point to, and rows that are asked for by number.

#include "analysis/roles/role_inference.h"
#include "base/units.h"

namespace hopscope::analysis::inference {

namespace {

const std::set<std::string> reverseWords{"rev", "revs", "reverse", "reversed", "inverse", "twin", "brev", "revb"};
const std::set<std::string> wantedWords{"seed", "seeds", "idx", "index",  "indices", "id",      "ids",   "query",
                                        "root", "roots", "out", "wanted", "target",  "targets", "nodes", "sel"};

// The number of rows that features must have for the ids of some end, and for those of all ends, to be rows of them.
struct RowsNeeded {
    std::int64_t some = 0, all = 0;  // 0 where there are no ids
};

// Looks only at the ends that belong to a place in a pair, if `place` is not -1.
RowsNeeded rowsNeeded(const Draft& draft, int place)
{
    RowsNeeded needed;
    for (const Item& item : draft.items) {
        for (int e : {0, 1}) {
            const std::int64_t rows = item.is(RoleKind::Index) ? item.ranges[e].high + 1 : 0;
            if (rows == 0 || (place >= 0 && e != endInPair(item, place))) continue;
            needed.some = needed.some == 0 ? rows : std::min(needed.some, rows);
            needed.all = std::max(needed.all, rows);
        }
    }
    return needed;
}

// An input that may hold features: floats of two or more dimensions.
bool mayHaveRowDim(const Item& item)
{
    const bool features = item.forced ? item.role.kind == RoleKind::Node
                                      : item.open() && (item.hint == Hint::Feature || item.hint == Hint::None);
    return features && !item.name.dictItem() && base::isFloating(item.view->dtype) && item.view->shape.size() >= 2;
}

bool othersHold(const Draft& draft, const Item& item, std::int64_t rows)
{
    return std::ranges::any_of(draft.items, [&](const Item& other) {
        return &other != &item && mayHaveRowDim(other) && other.view->shape[0] >= rows;
    });
}

// The rows that an input needs at least for its first dimension to be that of its rows: those of one end, if another input
// has rows enough for all.
std::int64_t rowsNeededBy(const Draft& draft, const Item& item)
{
    const RowsNeeded needed = rowsNeeded(draft, placeInPair(draft, item));
    return othersHold(draft, item, needed.all) ? needed.some : needed.all;
}

// Whether an extent can be that of edges instead: not of features with several batches that alone can have the rows.
bool mayBeEdges(const Draft& draft, const Item& item, std::int64_t extent)
{
    const bool alone = item.hint == Hint::Feature && item.view->shape.size() > 2 &&
                       !othersHold(draft, item, rowsNeeded(draft, -1).all);
    return !alone && isEdgeCount(draft, extent);
}

void promote(Draft& draft, const Item& index)
{
    const std::string& relation = index.role.relation;
    if (!draft.edgeTables.insert(relation).second) return;
    (void)draft.nodes.add(relation, index.edges(), index.key);
}

// Not edges that offsets tell the destinations of: these are no column of the table.
bool mayBeTable(const Draft& draft, const Item& index)
{
    return index.is(RoleKind::Index) && std::ranges::none_of(draft.items, [&](const Item& other) {
               return other.is(RoleKind::Index) && other.role.relation == index.role.relation &&
                      isCompressed(other.role.form);
           });
}

// --role rev=key:edge_index>edge_index, or index:edge_index>edge_index
void promoteNamed(Draft& draft, const Item& item)
{
    const bool pointer = item.role.kind == RoleKind::Key || item.role.kind == RoleKind::Index;
    for (const std::string& table : {item.role.first, item.role.second}) {
        const Item* index = pointer && !table.empty() ? relationNamed(draft, table) : nullptr;
        if (index && index != &item && mayBeTable(draft, *index) && !draft.nodes.has(table)) promote(draft, *index);
    }
}

// An edge for each edge, by a name that says so.
void findReverse(Draft& draft, Item& item)
{
    if (!item.open() || !item.integral() || !item.vector() || !names::has(names::words(item.key), reverseWords)) return;
    const Range range = rangeOf(IntColumn(*item.view));
    for (const Item& index : draft.items) {
        if (!mayBeTable(draft, index) || index.edges() != item.rows() || range.low < 0 || range.high >= item.rows())
            continue;
        promote(draft, index);
        draft.note(item.key + ": assumed to name an edge of " + index.role.relation + " for each edge");
        return decide(item, RoleKind::Key, index.role.relation, index.role.relation);
    }
}

// Both ends of the item's edges, which another item may have.
void pointTo(Draft& draft, const std::string& relation, const std::string& table)
{
    for (Item& item : draft.items)
        if (item.is(RoleKind::Index) && item.role.relation == relation) item.role.first = item.role.second = table;
}

// Ids beyond every table of nodes, but not beyond the edges of another index: pairs of edges. An "edge_index" whose ids
// are too large is a mistake, which is reported later.
void findPairsOfEdges(Draft& draft, const Item& item)
{
    if (!item.is(RoleKind::Index) || !item.role.first.empty() || !item.relationItem().empty()) return;
    if (item.key == "edge_index") return;
    const std::int64_t high = std::max(item.ranges[0].high, item.ranges[1].high);
    const bool beyond =
        !draft.nodes.types().empty() && std::ranges::all_of(draft.nodes.types(), [&](const std::string& type) {
            return draft.edgeTables.contains(type) || draft.nodes.rows(type) <= high;
        });
    const Item* best = nullptr;
    for (const Item& index : draft.items) {
        const bool fits = mayBeTable(draft, index) && index.name.part.empty() &&  // entries of a matrix have no numbers
                          index.role.relation != item.role.relation && index.edges() > high;
        if (fits && (!best || index.edges() < best->edges())) best = &index;
    }
    if (!beyond || !best) return;
    draft.note(item.key + ": assumed to point to edges of " + best->role.relation + ", as no node table has " +
               base::counted(high + 1, "row") + " or more");
    promote(draft, *best);
    pointTo(draft, item.role.relation, best->role.relation);
}

// Row numbers of the only node table, as many as no table has rows.
void findWanted(Draft& draft, Item& item)
{
    const bool given = item.forced && item.role.kind == RoleKind::Key && !item.role.first.empty();
    const bool beside = item.hint == Hint::None || item.hint == Hint::Node || item.hint == Hint::Feature;
    const bool named = item.open() && beside && names::has(names::words(item.key), wantedWords);
    if ((!given && !named) || !item.integral() || !item.vector() || item.rows() < 1) return;
    if (given && draft.nodes.sizeOf(item.role.first) < 0) {
        (void)draft.nodes.add(item.role.first, item.rows(), item.key);
        draft.requests.insert(item.role.first);
        return;
    }
    if (given || draft.nodes.types().size() != 1 || isEdgeCount(draft, item.rows())) return;
    const std::string type = draft.nodes.types().front();
    const Range range = rangeOf(IntColumn(*item.view));
    if (range.low < 0 || range.high >= draft.nodes.rows(type) || item.rows() == draft.nodes.rows(type)) return;
    draft.note(item.key + ": assumed to name rows of \"" + type + "\"");
    (void)draft.nodes.add(item.key, item.rows(), item.key);
    draft.requests.insert(item.key);
    decide(item, RoleKind::Key, item.key, type);
}

}  // namespace

base::Status findRowDims(Draft& draft)
{
    for (Item& item : draft.items) {
        if (!mayHaveRowDim(item)) continue;
        const std::vector<std::int64_t>& shape = item.view->shape;
        const std::int64_t needed = rowsNeededBy(draft, item);
        if (shape[0] >= needed || mayBeEdges(draft, item, shape[0])) continue;
        const auto fits = std::ranges::find_if(shape, [&](std::int64_t extent) { return extent >= needed; });
        if (fits == shape.end() || mayBeEdges(draft, item, *fits)) continue;
        item.role.dim = static_cast<int>(fits - shape.begin());
        draft.note(item.key + ": its rows are assumed to lie along dimension " + std::to_string(item.role.dim) +
                   ", as edges need at least " + std::to_string(needed) + " of them");
    }
    return {};
}

base::Status findEdgeTables(Draft& draft)
{
    for (Item& item : draft.items) {
        if (item.forced) promoteNamed(draft, item);
        findReverse(draft, item);
    }
    for (const Item& item : draft.items) findPairsOfEdges(draft, item);
    for (Item& item : draft.items) findWanted(draft, item);
    return {};
}

base::Status settleEdgeTables(Draft& draft)
{
    for (Item& item : draft.items) {
        InputRole& role = item.role;
        if (role.kind == RoleKind::Edge && draft.edgeTables.contains(role.first)) role.kind = RoleKind::Node;
        if (role.kind != RoleKind::Index || !draft.edgeTables.contains(role.relation)) continue;
        draft.schema.sizes.erase(role.relation);
        role.kind = isOneEnd(role.form) ? RoleKind::Key : RoleKind::Ends;
        if (role.kind == RoleKind::Ends) continue;
        role.second = hasEnd(role.form, 0) ? role.first : role.second;
        role.first = role.relation;
    }
    return {};
}

}  // namespace hopscope::analysis::inference

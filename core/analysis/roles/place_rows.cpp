#include "analysis/roles/role_inference.h"

#include <limits>

#include "base/units.h"

namespace hopscope::analysis::inference {

namespace {

using base::ErrorCode;

// 0 0 1 1 1 2 ..: the form of a batch vector.
bool sortedWithoutGaps(const IntColumn& column)
{
    if (column.size() < 2 || column[0] != 0) return false;
    for (std::int64_t i = 1; i < column.size(); ++i)
        if (column[i] != column[i - 1] && column[i] != column[i - 1] + 1) return false;
    const std::int64_t groups = column[column.size() - 1] + 1;
    return groups >= 2 && groups <= column.size() / 2;
}

base::Status placeNode(Draft& draft, Item& item);

// Among the node types with as many rows as the item: the one it is named after, else the first. Empty if there is
// none.
std::string bestType(const Draft& draft, const Item& item)
{
    const std::vector<std::string> same = draft.nodes.ofSize(item.rows());
    if (item.name.dictItem() && draft.nodes.sizeOf(item.name.item) >= 0)
        return draft.nodes.sizeOf(item.name.item) == item.rows() ? item.name.item : "";
    if (same.empty()) return {};
    return *std::ranges::max_element(same, {},
                                     [&](const std::string& type) { return names::affinity(type, item.key); });
}

// Among the relations with as many edges as the item has rows: the one whose name is closest, else the first.
const Item* bestRelation(const Draft& draft, const Item& item)
{
    const Item* best = nullptr;
    const auto closeness = [&](const Item& index) {
        return names::affinity(index.key, item.key) +
               (!item.name.item.empty() && index.name.item == item.name.item ? 100 : 0);
    };
    for (const Item& index : draft.items) {
        if (!index.is(RoleKind::Index) || index.edges() != item.rows()) continue;
        if (best == nullptr || closeness(index) > closeness(*best)) best = &index;
    }
    return best;
}

bool isSparseValues(const Item& item) { return item.sparsePart("coo_values") || item.sparsePart("csr_values"); }

// "name one of these edge indices: buys, likes"
std::string edgeIndices(const Draft& draft)
{
    std::string known;
    for (const Item& index : draft.items)
        if (index.is(RoleKind::Index) && hasEnd(index.role.form, 0)) known += (known.empty() ? "" : ", ") + index.key;
    return known.empty() ? "declare the input with the edges: --role NAME=index:S>T"
                         : "name one of these edge indices: " + known;
}

base::Status placeEdge(Draft& draft, Item& item)
{
    const Item* relation = bestRelation(draft, item);
    std::string wanted = item.forced ? item.role.first : item.relationItem();
    if (isSparseValues(item)) wanted = item.tensorKey();
    if (!wanted.empty()) {
        relation = relationNamed(draft, wanted);
        if (relation == nullptr && !item.forced) return placeNode(draft, item);
        if (relation == nullptr)
            return base::fail(ErrorCode::Input,
                              "--role " + item.key + "=edge:" + wanted + " does not name an edge index",
                              edgeIndices(draft));
    }
    if (relation != nullptr && relation->edges() == item.rows()) {
        decide(item, RoleKind::Edge, relation->role.relation);
        return {};
    }
    const Item* named = relation;
    for (const Item& index : draft.items)
        if (named == nullptr && index.is(RoleKind::Index)) named = &index;
    const bool clear =
        item.forced || !wanted.empty() || names::has(names::words(item.name.argument), {"attr", "weight", "type"});
    if (!item.forced && (!clear || named == nullptr || item.rows() == 1)) return placeNode(draft, item);
    if (named == nullptr)
        return base::fail(ErrorCode::Input, "--role " + item.key + "=edge: the data has no edge index",
                          edgeIndices(draft));
    return base::fail(ErrorCode::Input,
                      "the number of rows of " + item.key + " is " + base::grouped(item.rows()) + ", but " +
                          named->key + " has " + base::counted(named->edges(), "edge"),
                      "give it a row for each edge" +
                          (item.forced || isSparseValues(item)
                               ? std::string()
                               : ", or say --role " + item.key + "=plain if it does not hold rows of edges"),
                      item.view->origin);
}

std::string keyTarget(const Draft& draft, const Item& item, const Range& range)
{
    if (!item.role.second.empty()) return item.role.second;
    if (!names::has(names::words(item.key), {"cluster", "clusters", "assign", "assignment", "segment", "segments"}))
        return "graph";
    for (const std::string& type : draft.nodes.types())
        if (draft.nodes.rows(type) == range.high + 1 && draft.nodes.rows(type) != item.rows()) return type;
    return "cluster";
}

// "the node tables are user (number of rows: 19), item (number of rows: 7)"
std::string nodeTables(const Draft& draft)
{
    const auto& sizes = draft.nodes.sizes();
    if (sizes.empty()) return "no input is a node table: declare one with --role NAME=node";
    std::string known;
    for (const auto& [type, rows] : sizes)
        known += (known.empty() ? "" : ", ") + type + " (number of rows: " + std::to_string(rows) + ")";
    return (sizes.size() == 1 ? "the only node table is " : "the node tables are ") + known;
}

bool isTable(const Item& item) { return item.integral() && item.view->shape.size() == 2; }

// Several rows of a table for each node: the table with the least room above the largest number, which may be padding.
base::Status placeNeighbours(Draft& draft, Item& item)
{
    const std::string source = item.role.first.empty() ? bestType(draft, item) : item.role.first;
    std::int64_t most = -1;
    for (std::int64_t k = 0; k < item.view->shape[1]; ++k)
        most = std::max(most, rangeOf(IntColumn(*item.view, k, 1)).high);
    std::string target = item.role.second;
    for (const std::string& type : draft.nodes.types()) {
        const std::int64_t rows = draft.nodes.rows(type);
        if (item.role.second.empty() && most <= rows && (target.empty() || rows < draft.nodes.rows(target)))
            target = type;
    }
    if (draft.nodes.sizeOf(source) == item.rows() && draft.nodes.sizeOf(target) >= 0 &&
        most <= draft.nodes.sizeOf(target)) {
        decide(item, RoleKind::Key, source, target);
        return {};
    }
    if (!item.forced) return placeNode(draft, item);
    return base::fail(ErrorCode::Input,
                      "--role " + item.key +
                          "=key needs row numbers of a node table for each row of a node table, but the input is " +
                          base::dtypeName(item.view->dtype) + " " + shapeText(*item.view) + " with numbers up to " +
                          std::to_string(most),
                      nodeTables(draft));
}

base::Status placeKey(Draft& draft, Item& item)
{
    if (item.forced && isTable(item)) return placeNeighbours(draft, item);
    const std::string source = item.role.first.empty() ? bestType(draft, item) : item.role.first;
    if (!item.integral() || !item.vector() || draft.nodes.sizeOf(source) != item.rows()) {
        if (!item.forced) return placeNode(draft, item);
        return base::fail(ErrorCode::Input,
                          "--role " + item.key + "=key needs one integer per row of a node table, but the input is " +
                              base::dtypeName(item.view->dtype) + " " + shapeText(*item.view),
                          nodeTables(draft));
    }
    item.ranges[0] = rangeOf(IntColumn(*item.view));
    if (item.ranges[0].low < 0)
        return checkIds(item, IntColumn(*item.view), {}, std::numeric_limits<std::int64_t>::max(), {});
    const std::string target = keyTarget(draft, item, item.ranges[0]);
    decide(item, RoleKind::Key, source, target);
    if (draft.nodes.has(target)) return {};
    if (draft.nodes.sizeOf(target) >= 0) draft.nodes.addLoose(target, item.ranges[0].high + 1);
    else draft.graphs[target] = std::max(draft.graphs[target], item.ranges[0].high + 1);
    return {};
}

// By number of rows: nodes, or edges; an unnamed sorted column of small integers is a batch vector.
base::Status placeNode(Draft& draft, Item& item)
{
    const std::string type = bestType(draft, item);
    const Item* relation =
        item.forced || item.hint == Hint::Feature || item.hint == Hint::Node ? nullptr : bestRelation(draft, item);
    if (item.forced && type.empty())
        return base::fail(ErrorCode::Input,
                          item.key + " has " + base::counted(item.rows(), "row") + ", unlike any node table");
    if (type.empty() && relation == nullptr && !item.forced) relation = bestRelation(draft, item);
    if (!type.empty() && relation != nullptr)
        draft.note(item.key + ": could be rows of \"" + type + "\" or of " + relation->key + "; the first is assumed");
    if (type.empty() && relation != nullptr) decide(item, RoleKind::Edge, relation->role.relation);
    if (type.empty()) return {};
    if (item.hint == Hint::None && !item.forced && item.integral() && item.vector() &&
        sortedWithoutGaps(IntColumn(*item.view))) {
        draft.note(item.key + ": assumed to be a batch vector, because it is sorted without gaps");
        return placeKey(draft, item);
    }
    if (draft.nodes.ofSize(item.rows()).size() > 1 && item.name.item != type)
        draft.note(item.key + ": several node tables have " + base::counted(item.rows(), "row") + "; taken as \"" +
                   type + "\"");
    decide(item, RoleKind::Node, type);
    return {};
}

// A matrix of any name with a row per node, whose numbers end where those of the nodes end: no kind has so many.
bool namesRows(Draft& draft, const Item& item)
{
    constexpr std::int64_t fewRows = 64;
    const std::string type = item.hint == Hint::None ? bestType(draft, item) : "";
    if (type.empty() || item.rows() < fewRows || item.view->shape[1] < 2) return false;
    Range all{0, -1};
    for (std::int64_t k = 0; k < item.view->shape[1]; ++k) {
        const Range range = rangeOf(IntColumn(*item.view, k, 1));
        all = {std::min(all.low, range.low), std::max(all.high, range.high)};
    }
    const bool ends = all.low >= -1 && all.high <= item.rows() && all.high >= item.rows() - 1 - item.rows() / 50;
    if (ends)
        draft.note(item.key + ": assumed to name rows of \"" + type + "\", as its numbers reach " +
                   std::to_string(all.high));
    return ends;
}

base::Status place(Draft& draft, Item& item)
{
    const auto wants = [&](RoleKind kind, Hint hint) {
        return item.forced ? item.role.kind == kind : item.hint == hint;
    };
    if (wants(RoleKind::Plain, Hint::Plain) || wants(RoleKind::Graph, Hint::Graph)) return {};
    if (item.rows() < 0 && !item.forced) return {};
    if (wants(RoleKind::Edge, Hint::Edge) || isSparseValues(item)) return placeEdge(draft, item);
    if (wants(RoleKind::Key, Hint::Key)) return placeKey(draft, item);
    if (!item.forced && isTable(item) && (item.hint == Hint::Neighbours || namesRows(draft, item)))
        return placeNeighbours(draft, item);
    return placeNode(draft, item);
}

base::Status placeGraph(Draft& draft, Item& item)
{
    const bool wanted = item.forced ? item.role.kind == RoleKind::Graph : item.hint == Hint::Graph;
    std::string table;
    for (const auto& [name, size] : draft.graphs)
        if (size == item.rows() || (table.empty() && wanted && size < item.rows())) table = name;
    if (item.forced && table.empty() && draft.graphs.empty()) table = "graph";
    if (item.forced && (item.rows() < 0 || table.empty()))
        return base::fail(ErrorCode::Input, item.key + " " + shapeText(*item.view) + " does not have one row per graph",
                          "give it a row for each graph, or another role");
    if (table.empty()) return {};
    draft.graphs[table] = std::max(draft.graphs[table], item.rows());
    decide(item, RoleKind::Graph, table);
    return {};
}

base::Status placeGraphs(Draft& draft)
{
    for (Item& item : draft.items) {
        if (item.decided) continue;
        const bool plain =
            item.forced ? item.role.kind == RoleKind::Plain : item.hint == Hint::Plain || item.rows() < 0;
        if (!plain) {
            if (auto status = placeGraph(draft, item); !status) return status;
        }
        if (item.decided) continue;
        if (!plain)
            draft.note(item.key + ": has " + base::counted(item.rows(), "row") +
                       ", unlike any table; treated as a whole");
        decide(item, RoleKind::Plain, {});
    }
    return {};
}

base::Status checkKeys(Draft& draft)
{
    for (const Item& item : draft.items) {
        if (item.role.kind != RoleKind::Key || !item.vector()) continue;
        const std::string& target = item.role.second;
        const std::int64_t size = draft.nodes.sizeOf(target) >= 0 ? draft.nodes.sizeOf(target) : draft.graphs[target];
        if (auto status = checkIds(item, IntColumn(*item.view), {}, size, target); !status) return status;
    }
    return {};
}

}  // namespace

base::Status placeRest(Draft& draft)
{
    for (Item& item : draft.items) {
        if (item.decided) continue;
        if (auto status = place(draft, item); !status) return status;
    }
    if (auto status = placeGraphs(draft); !status) return status;
    return checkKeys(draft);
}

}  // namespace hopscope::analysis::inference

// What hangs on tables and relations: rows of nodes, edges and graphs, and keys.

#include <limits>

#include "analysis/roles/role_inference.h"

namespace hopscope::analysis::inference {

using base::ErrorCode;

// Of the node types with as many rows as the item: the one it is named after, else the first. Empty if there is none.
std::string RoleInference::bestType(const Item& item) const
{
    const std::vector<std::string> same = m_nodes.ofSize(item.rows());
    if (item.name.dictItem() && m_nodes.sizeOf(item.name.item) >= 0)
        return m_nodes.sizeOf(item.name.item) == item.rows() ? item.name.item : "";
    if (same.empty()) return {};
    return *std::ranges::max_element(same, {},
                                     [&](const std::string& type) { return names::affinity(type, item.key); });
}

const Item* RoleInference::relationNamed(const std::string& name) const
{
    for (const Item& item : m_items)
        if (item.is(RoleKind::Index) && (item.role.relation == name || item.key == name || item.name.item == name))
            return &item;
    return nullptr;
}

// Of the relations with as many edges as the item has rows: the one whose name is closest, else the first.
const Item* RoleInference::bestRelation(const Item& item) const
{
    const Item* best = nullptr;
    const auto closeness = [&](const Item& index) {
        return names::affinity(index.key, item.key) +
               (!item.name.item.empty() && index.name.item == item.name.item ? 100 : 0);
    };
    for (const Item& index : m_items) {
        if (!index.is(RoleKind::Index) || index.view->shape[1] != item.rows()) continue;
        if (best == nullptr || closeness(index) > closeness(*best)) best = &index;
    }
    return best;
}

base::Status RoleInference::placeEdge(Item& item)
{
    const Item* relation = bestRelation(item);
    std::string wanted = item.forced ? item.role.first : item.relationItem();
    if (item.sparsePart("coo_values")) wanted = item.name.argument;
    if (!wanted.empty()) {
        relation = relationNamed(wanted);
        if (relation == nullptr && !item.forced) return placeNode(item);
        if (relation == nullptr)
            return base::fail(ErrorCode::Input,
                              "--role " + item.key + "=edge:" + wanted + " does not name an edge index");
    }
    if (relation != nullptr && relation->view->shape[1] == item.rows()) {
        decide(item, RoleKind::Edge, relation->role.relation);
        return {};
    }
    const Item* named = relation;
    for (const Item& index : m_items)
        if (named == nullptr && index.is(RoleKind::Index)) named = &index;
    const bool clear =
        item.forced || !wanted.empty() || names::has(names::words(item.name.argument), {"attr", "weight", "type"});
    if (!clear || named == nullptr || item.rows() == 1) return placeNode(item);
    return base::fail(ErrorCode::Input,
                      item.key + " has " + std::to_string(item.rows()) + " rows, but " + named->key + " has " +
                          std::to_string(named->view->shape[1]) + " edges",
                      "correct it with --role", item.view->origin);
}

std::string RoleInference::keyTarget(const Item& item, const Range& range) const
{
    if (!item.role.second.empty()) return item.role.second;
    if (!names::has(names::words(item.key), {"cluster", "clusters", "assign", "assignment", "segment", "segments"}))
        return "graph";
    for (const std::string& type : m_nodes.types())
        if (m_nodes.rows(type) == range.high + 1 && m_nodes.rows(type) != item.rows()) return type;
    return "cluster";
}

base::Status RoleInference::placeKey(Item& item)
{
    const std::string source = item.role.first.empty() ? bestType(item) : item.role.first;
    if (!item.integral() || !item.vector() || m_nodes.sizeOf(source) != item.rows()) {
        if (!item.forced) return placeNode(item);
        return base::fail(ErrorCode::Input, "--role " + item.key +
                                                "=key needs one integer per row of a node table, but it is " +
                                                base::dtypeName(item.view->dtype) + " " + shapeText(*item.view));
    }
    item.ranges[0] = rangeOf(IntColumn(*item.view));
    if (item.ranges[0].low < 0)
        return checkIds(item, IntColumn(*item.view), {}, std::numeric_limits<std::int64_t>::max(), {});
    const std::string target = keyTarget(item, item.ranges[0]);
    decide(item, RoleKind::Key, source, target);
    if (m_nodes.sizeOf(target) < 0) m_graphs[target] = std::max(m_graphs[target], item.ranges[0].high + 1);
    return {};
}

// By number of rows: nodes, or edges; an unnamed sorted column of small integers is a batch vector.
base::Status RoleInference::placeNode(Item& item)
{
    const std::string type = bestType(item);
    const Item* relation =
        item.forced || item.hint == Hint::Feature || item.hint == Hint::Node ? nullptr : bestRelation(item);
    if (item.forced && type.empty())
        return base::fail(ErrorCode::Input,
                          item.key + " has " + std::to_string(item.rows()) + " rows, unlike any node table");
    if (type.empty() && relation == nullptr && !item.forced) relation = bestRelation(item);
    if (!type.empty() && relation != nullptr)
        note(item.key + ": could be rows of \"" + type + "\" or of " + relation->key + "; the first is assumed");
    if (type.empty() && relation != nullptr) decide(item, RoleKind::Edge, relation->role.relation);
    if (type.empty()) return {};
    if (item.hint == Hint::None && !item.forced && item.integral() && item.vector() &&
        sortedWithoutGaps(IntColumn(*item.view))) {
        note(item.key + ": assumed to be a batch vector, because it is sorted without gaps");
        return placeKey(item);
    }
    if (m_nodes.ofSize(item.rows()).size() > 1 && item.name.item != type)
        note(item.key + ": several node tables have " + std::to_string(item.rows()) + " rows; taken as \"" + type +
             "\"");
    decide(item, RoleKind::Node, type);
    return {};
}

base::Status RoleInference::place(Item& item)
{
    const auto wants = [&](RoleKind kind, Hint hint) {
        return item.forced ? item.role.kind == kind : item.hint == hint;
    };
    if (wants(RoleKind::Plain, Hint::Plain) || wants(RoleKind::Graph, Hint::Graph)) return {};
    if (item.rows() < 0 && !item.forced) return {};
    if (wants(RoleKind::Edge, Hint::Edge) || item.sparsePart("coo_values")) return placeEdge(item);
    if (wants(RoleKind::Key, Hint::Key)) return placeKey(item);
    return placeNode(item);
}

base::Status RoleInference::placeRest()
{
    for (Item& item : m_items) {
        if (item.decided) continue;
        if (auto status = place(item); !status) return status;
    }
    return placeGraphs();
}

base::Status RoleInference::placeGraph(Item& item)
{
    const bool wanted = item.forced ? item.role.kind == RoleKind::Graph : item.hint == Hint::Graph;
    std::string table;
    for (const auto& [name, size] : m_graphs)
        if (size == item.rows() || (table.empty() && wanted && size < item.rows())) table = name;
    if (item.forced && table.empty() && m_graphs.empty()) table = "graph";
    if (item.forced && (item.rows() < 0 || table.empty()))
        return base::fail(ErrorCode::Input, item.key + " " + shapeText(*item.view) + " has no row for each graph",
                          "correct it with --role");
    if (table.empty()) return {};
    m_graphs[table] = std::max(m_graphs[table], item.rows());
    decide(item, RoleKind::Graph, table);
    return {};
}

base::Status RoleInference::placeGraphs()
{
    for (Item& item : m_items) {
        if (item.decided) continue;
        const bool plain =
            item.forced ? item.role.kind == RoleKind::Plain : item.hint == Hint::Plain || item.rows() < 0;
        if (!plain) {
            if (auto status = placeGraph(item); !status) return status;
        }
        if (item.decided) continue;
        if (!plain)
            note(item.key + ": its " + std::to_string(item.rows()) + " rows match no table; treated as a whole");
        decide(item, RoleKind::Plain, {});
    }
    return checkKeys();
}

base::Status RoleInference::checkKeys()
{
    for (const Item& item : m_items) {
        if (item.role.kind != RoleKind::Key) continue;
        const std::string& target = item.role.second;
        const std::int64_t size = m_nodes.sizeOf(target) >= 0 ? m_nodes.sizeOf(target) : m_graphs[target];
        if (auto status = checkIds(item, IntColumn(*item.view), {}, size, target); !status) return status;
    }
    return checkParameters();
}

// Weights declared as tables: their type must be one that the data has, or the only one.
base::Status RoleInference::checkParameters()
{
    for (auto& [name, role] : m_schema.roles) {
        if (role.kind == RoleKind::Edge && role.first.empty() && m_schema.sizes.size() == 1)
            role.first = m_schema.sizes.begin()->first;
        if (role.kind == RoleKind::Node && role.first.empty() && m_nodes.sizes().size() == 1)
            role.first = m_nodes.sizes().begin()->first;
        const bool good = role.kind == RoleKind::Node   ? m_nodes.sizeOf(role.first) >= 0
                          : role.kind == RoleKind::Edge ? relationNamed(role.first) != nullptr
                                                        : role.kind == RoleKind::Plain || role.kind == RoleKind::Graph;
        if (good) continue;
        std::string known;
        for (const auto& tables : {m_nodes.sizes(), m_schema.sizes})
            for (const auto& [table, size] : tables) known += (known.empty() ? "" : ", ") + table;
        return base::fail(ErrorCode::Input, "--role " + name + " does not name a table of the data",
                          "the tables are " + known);
    }
    return {};
}

}  // namespace hopscope::analysis::inference

#pragma once

// The working state of the inference of roles: the data keys, the node tables found so far, the schema under
// construction. Internal to inferSchema().

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/roles/int_column.h"
#include "analysis/roles/role_names.h"
#include "analysis/roles/roles.h"

namespace hopscope::analysis::inference {

using names::Hint;

struct Range {
    std::int64_t low = 0, high = -1;  // high < low if there are no numbers
};

// Returns the range of the numbers in the column. Linear, on all cores.
Range rangeOf(const IntColumn& column);

inline std::string shapeText(const base::TensorView& view)
{
    std::string text;
    for (const std::int64_t size : view.shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
    return "[" + text + "]";
}

struct Item {
    std::string key;
    const base::TensorView* view = nullptr;
    names::KeyName name;
    Hint hint = Hint::None;
    InputRole role;
    bool forced = false;  // the user gave the kind
    bool decided = false;
    Range ranges[2];          // Index: per end
    std::int64_t items = -1;  // Index without its total: the number of edges

    [[nodiscard]] std::int64_t rows() const
    {
        return view->shape.empty() ? -1 : view->shape[static_cast<std::size_t>(role.dim)];
    }
    [[nodiscard]] bool integral() const { return base::isIntegral(view->dtype); }
    [[nodiscard]] bool vector() const { return view->shape.size() == 1; }
    [[nodiscard]] std::int64_t edges() const  // Index
    {
        return lacksTotal(role.form) ? items : edgeCount(*view, role.form);
    }
    [[nodiscard]] bool is(RoleKind kind) const { return forced ? role.kind == kind : decided && role.kind == kind; }
    [[nodiscard]] bool open() const { return !forced && !decided; }
    // The part of a sparse tensor: "coo_indices" of "adj.coo_indices".
    [[nodiscard]] bool sparsePart(const char* part) const { return name.part == part; }
    // The data key without the part of a sparse tensor: "adj" for "adj.coo_indices".
    [[nodiscard]] std::string tensorKey() const
    {
        return name.part.empty() ? key : key.substr(0, key.size() - name.part.size() - 1);
    }
    // "a__b" for "edge_index.a__b"; empty for items that are not relations.
    [[nodiscard]] std::string relationItem() const
    {
        return name.item.find("__") == std::string::npos ? "" : name.item;
    }
};

// The node tables found so far. A table has rows of its own; a loose type is only known from ids that point to it.
class NodeTables {
public:
    // False if `type` already has a different number of rows.
    bool add(const std::string& type, std::int64_t rows, const std::string& origin)
    {
        const auto [at, fresh] = m_tables.emplace(type, Table{rows, origin});
        if (fresh) m_order.push_back(type);
        return fresh || at->second.rows == rows;
    }
    void addLoose(const std::string& type, std::int64_t rows)
    {
        std::int64_t& size = m_loose[type];
        size = std::max(size, rows);
    }

    [[nodiscard]] const std::vector<std::string>& types() const { return m_order; }  // with a table, surest first
    [[nodiscard]] bool has(const std::string& type) const { return m_tables.contains(type); }
    [[nodiscard]] std::int64_t rows(const std::string& type) const { return m_tables.at(type).rows; }
    [[nodiscard]] const std::string& origin(const std::string& type) const { return m_tables.at(type).origin; }

    // Returns the number of rows of a type, with or without a table; -1 if no type has that name.
    [[nodiscard]] std::int64_t sizeOf(const std::string& type) const
    {
        if (has(type)) return rows(type);
        const auto loose = m_loose.find(type);
        return loose == m_loose.end() ? -1 : loose->second;
    }
    [[nodiscard]] std::map<std::string, std::int64_t> sizes() const
    {
        std::map<std::string, std::int64_t> all;
        for (const auto& [type, table] : m_tables) all[type] = table.rows;
        all.insert(m_loose.begin(), m_loose.end());
        return all;
    }
    [[nodiscard]] std::vector<std::string> ofSize(std::int64_t wanted) const
    {
        std::vector<std::string> found;
        for (const std::string& type : m_order)
            if (rows(type) == wanted) found.push_back(type);
        for (const auto& [type, size] : m_loose)
            if (size == wanted && !has(type)) found.push_back(type);
        return found;
    }

private:
    struct Table {
        std::int64_t rows = 0;
        std::string origin;  // the data key that declared it
    };
    std::vector<std::string> m_order;
    std::map<std::string, Table> m_tables;
    std::map<std::string, std::int64_t> m_loose;
};

// The facts found so far; the steps of the inference (role_inference.h) add to them one after the other.
struct Draft {
    std::vector<Item> items;  // one per data key
    NodeTables nodes;
    std::map<std::string, std::int64_t> graphs;  // graph tables: rows
    std::set<std::string> knownTypes;            // type names seen in Dict keys
    std::set<std::string> edgeTables;            // relations whose edges are rows of a node table of the same name
    std::set<std::string> requests;              // node tables whose rows only name rows of another table
    InputSchema schema;

    void note(std::string text) { schema.notes.push_back(std::move(text)); }
};

void decide(Item& item, RoleKind kind, std::string first, std::string second = {});

// Returns the prefix of positions in messages: "0, " for the numbers of an end, or nothing.
std::string placeOf(const Item& index, int end);

// Returns the item that holds the size of a sparse tensor, given the item that holds its indices; nullptr if there is
// none.
const Item* sizeOfSparse(const Draft& draft, const Item& item);
// Converts an end of the index to a position in a pair, and back. The rows of COO matrices, which are multiplied from
// the left, are destinations.
inline int endInPair(const Item& index, int place) { return index.sparsePart("coo_indices") ? 1 - place : place; }
// Returns the position of the item in a pair x = (sources, destinations): 0 for "x.0" and 1 for "x.1", if x has no
// other elements and the ids of an index fit into both. -1 for other items.
int placeInPair(const Draft& draft, const Item& item);
// Returns the other element of the pair. Requires placeInPair() to be other than -1.
const Item& otherOfPair(const Draft& draft, const Item& item);

// True if an item holds the sources of the index's edges; otherwise the edges are the items of bags.
bool hasSources(const Draft& draft, const Item& index);
// True if an index has this number of edges.
bool isEdgeCount(const Draft& draft, std::int64_t rows);
// Returns the index of a relation, given the relation's name, the data key, or the item in the key; nullptr if there is
// none.
const Item* relationNamed(const Draft& draft, const std::string& name);
// Fails with Input unless all numbers of the column are row numbers below `size`, naming the first that is not
// (KEY[`where` + position]). `type` is the table that they point into; empty if it is not known yet.
base::Status checkIds(const Item& item, const IntColumn& column, const std::string& where, std::int64_t size,
                      const std::string& type);

}  // namespace hopscope::analysis::inference

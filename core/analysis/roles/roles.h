#pragma once

// The input schema: the role of each data key. The model file does not say which argument holds node features and which
// an edge index; it is inferred from names, dtypes and sizes, and can be overridden (--role).

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/roles/int_column.h"
#include "base/result.h"
#include "base/tensor.h"

namespace hopscope::analysis {

// The form in which an input lists edges.
enum class EdgeForm : std::uint8_t {
    Rows,         // [2, E]: sources, then destinations
    Pairs,        // [E, 2]
    Source,       // [E]: the sources; another input has the destinations
    Destination,  // [E]
    Offsets,      // [N + 1]: the start of each destination's edges among the sources of another input (CSR)
    Starts,       // [N]: the same without the last number, the number of edges
};

// The ends of edges that a form has. A compressed one has the N + 1 offsets of N destinations, or all but an outer one.
struct FormTraits {
    bool sources = false, destinations = false;
    std::size_t edgeDim = 0;           // the dimension of the edges; not if compressed
    bool first = false, last = false;  // compressed: the first offset, which is 0, and the last, the number of edges
};
constexpr FormTraits traitsOf(EdgeForm form)
{
    switch (form) {
    case EdgeForm::Rows: return {.sources = true, .destinations = true, .edgeDim = 1};
    case EdgeForm::Pairs: return {.sources = true, .destinations = true};
    case EdgeForm::Source: return {.sources = true};
    case EdgeForm::Destination: return {.destinations = true};
    case EdgeForm::Offsets: return {.destinations = true, .first = true, .last = true};
    case EdgeForm::Starts: return {.destinations = true, .first = true};
    }
    return {};
}

enum class RoleKind : std::uint8_t {
    Node,   // one row per node of type `first`
    Index,  // the edges of relation first > second, as `form` says
    Ends,   // the same, of edges that other inputs point to: they are rows of the node table `relation`
    Edge,   // one row per edge of relation `first`
    Key,    // one integer per node of type `first`: a row of table `second` (a node type or a graph table); or several
            // (a table of neighbours), in which numbers that are not a row of a node type are padding
    Graph,  // one row per graph of table `first`
    Plain,  // no rows
};

struct InputRole {
    RoleKind kind = RoleKind::Plain;
    std::string first;     // node type, relation or graph table
    std::string second;    // Index: destination type; Key: target table
    std::string relation;  // Index, Ends: the relation's name (the data key it came from)
    bool overridden = false;
    EdgeForm form = EdgeForm::Rows;  // Index, Ends
    int dim = 0;                     // Node, Edge, Graph: the dimension of the rows; 1 of features [B, N, F]
    bool operator==(const InputRole&) const = default;
};

// True if it lists edges, be they rows of a node table or not.
inline bool listsEdges(const InputRole& role) { return role.kind == RoleKind::Index || role.kind == RoleKind::Ends; }

enum class TableKind : std::uint8_t { None, Node, Edge, Graph };

// A role as --role, its help, `inspect` and docs/ have it.
struct RoleWord {
    const char* name;
    const char* types;  // behind the name, unless they are left out
    RoleKind kind;
    EdgeForm form;        // Index
    TableKind rows;       // unless compressed
    const char* meaning;  // for docs/: the input holds ..
    const char* label;    // 1 and 2 stand for the types
};
inline constexpr auto roleWords = std::to_array<RoleWord>({
    {"node", ":T", RoleKind::Node, {}, TableKind::Node, "one row per node of type `T`", "a row per 1"},
    {"index", ":S>T", RoleKind::Index, EdgeForm::Rows, TableKind::Edge,
     "edges from nodes of type `S` to nodes of type `T`", "edges 1 \u2192 2"},
    {"source", ":S>T", RoleKind::Index, EdgeForm::Source, TableKind::Edge, "the source of each edge",
     "sources of edges 1 \u2192 2"},
    {"destination", ":S>T", RoleKind::Index, EdgeForm::Destination, TableKind::Edge, "the destination of each edge",
     "destinations of edges 1 \u2192 2"},
    {"offsets", ":S>T", RoleKind::Index, EdgeForm::Offsets, TableKind::Edge,
     "the compressed destinations of edges: the position at which those of each node begin, and the number of edges",
     "where each destination's edges begin, 1 \u2192 2"},
    {"starts", ":S>T", RoleKind::Index, EdgeForm::Starts, TableKind::Edge, "offsets without the last number",
     "where each destination's edges begin, 1 \u2192 2"},
    {"edge", ":R", RoleKind::Edge, {}, TableKind::Edge, "one row per edge of the input `R`", "a row per edge of 1"},
    {"key", ":T>U", RoleKind::Key, {}, TableKind::Node, "for each row one or more rows of table `U`", "2 of each 1"},
    {"graph", "", RoleKind::Graph, {}, TableKind::Graph, "one row per graph", "a row per 1"},
    {"plain", "", RoleKind::Plain, {}, TableKind::None, "no rows", "no rows"},
});

// [2, E] and [E, 2] share a word.
const RoleWord& wordOf(const InputRole& role);
std::string listRoles();  // "node:T, index:S>T, .., graph or plain"
// "node:user", "index:user>item", "edge:rel", "key:node>graph", "graph:graph", "plain".
std::string roleText(const InputRole& role);

// The table whose rows an input has, and their dimension.
struct InputRows {
    TableKind kind = TableKind::None;
    std::string table{};
    std::size_t dim = 0;
};
InputRows rowsOf(const InputRole& role);

// True if an index of this form has end 0 (sources) or 1 (destinations).
constexpr bool hasEnd(EdgeForm form, int end)
{
    return end == 0 ? traitsOf(form).sources : traitsOf(form).destinations;
}
// True if it has one end only, and another input has the other.
constexpr bool isOneEnd(EdgeForm form) { return !hasEnd(form, 0) || !hasEnd(form, 1); }
// True if it holds the start of each destination's edges. Without an input with the sources, the edges are the items of
// bags: each has the node of its bag at both ends.
constexpr bool isCompressed(EdgeForm form) { return traitsOf(form).first || traitsOf(form).last; }
// True if it does not tell the number of edges: edgeCount() is the least number then.
constexpr bool lacksTotal(EdgeForm form) { return isCompressed(form) && !traitsOf(form).last; }
// How many offsets a compressed form has more than destinations.
constexpr std::int64_t extraOffsets(EdgeForm form) { return traitsOf(form).first && traitsOf(form).last ? 1 : 0; }
// Of the numbers of a compressed index: the place at which the edges of `row` begin; behind the last row `edges`.
inline std::int64_t offsetAt(const IntColumn& numbers, EdgeForm form, std::int64_t row, std::int64_t edges)
{
    const std::int64_t at = row - (traitsOf(form).first ? 0 : 1);
    return at < 0 ? 0 : at < numbers.size() ? numbers[at] : edges;
}
std::int64_t edgeCount(const base::TensorView& index, EdgeForm form);
// The numbers of one end that the index holds. A compressed index holds both ends, and its numbers are written out:
// linear in the edges, in memory as well. `edges`: the number of edges.
IntColumn endColumn(const base::TensorView& index, EdgeForm form, int end, std::int64_t edges);

// Data keys (and, for declared weight tables, dotted parameter names) to roles.
struct InputSchema {
    std::map<std::string, InputRole> roles;
    std::map<std::string, std::int64_t> sizes;  // node types, relations and graph tables: number of rows in the data
    std::vector<std::string> notes;             // the guesses, as sentences
    std::set<std::string> gathered;  // graph tables whose rows are computed like nodes: each from the rows of its graph
};

// True if an input has the sources of a relation's edges; else they are the items of bags.
bool listsSources(const InputSchema& schema, const std::string& relation);

// True if a table is one of nodes: a key's target is, if an input has rows of it or edges lead to it; else it is one of
// graphs, which count as nodes if the schema declares so.
bool isNodeTable(const InputSchema& schema, const std::string& table);

// One --role NAME=ROLE, without or with types. Whether an index is [2, E] or [E, 2] follows from its shape.
// Fails with Usage on anything else.
base::Result<std::pair<std::string, InputRole>> parseRole(const std::string& text);

// Roles that were not inferred, by data key or name of a weight.
using Overrides = std::map<std::string, InputRole>;

// Several --role; the last one for a name wins. Fails with Usage if one of them is no role.
base::Result<Overrides> parseRoles(const std::vector<std::string>& texts);

// Infers the schema of `inputs`, given overrides. Reads shapes, dtypes and, for integer vectors and index pairs, the
// largest number (linear in their size). Fails with Input if sizes contradict each other, ids are negative or out of
// range (naming the first bad position and the count), or an override names neither an input nor one of the model's
// `parameters` (dotted names and numbers of rows), which may be declared as tables of the data; a table that only ids point
// into has the rows of its weight.
// If the first dimension of a feature has fewer rows than edges point to, its rows lie along another. Edges that an input
// points to (the reverse of each edge, pairs of edges) are a node table; so are rows that are requested by number.
// Types are named after the data keys: Dict keys name node types ("xs.user" -> user) and relations
// ("es.user__to__item" -> user > item); otherwise one node type "node" and one relation per index.
base::Result<InputSchema> inferSchema(const base::TensorMap& inputs, const Overrides& overrides,
                                      const std::map<std::string, std::int64_t>& parameters = {});

}  // namespace hopscope::analysis

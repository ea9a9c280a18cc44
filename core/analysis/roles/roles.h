#pragma once

// The input schema: the role of each data key. A model file does not say which argument holds node features and which
// an edge index. Roles are inferred from names, dtypes, sizes and ids, and can be overridden (--role).

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
    Offsets,      // [N + 1]: the position in other inputs at which each destination's edges (CSR), or each bag, begin
    Starts,       // [N]: the same without the last number, which is the number of edges
};

// The ends of edges that a form has. A compressed one has the N + 1 offsets of N destinations, or all but the last.
struct FormTraits {
    bool sources = false, destinations = false;
    std::size_t edgeDim = 0;           // the dimension of the edges; unused if compressed
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
            // rows of a node type (a table of neighbours), where numbers that are no row of it are padding
    Graph,  // one row per graph of table `first`
    Plain,  // no rows
};

struct InputRole {
    RoleKind kind = RoleKind::Plain;
    std::string first;     // node type, relation or graph table
    std::string second;    // Index, Ends: destination type; Key: target table
    std::string relation;  // Index, Ends: the relation's name
    bool overridden = false;
    EdgeForm form = EdgeForm::Rows;  // Index, Ends
    int dim = 0;                     // Node, Edge, Graph: the dimension of the rows; for example 1 of [B, N, F]
    bool operator==(const InputRole&) const = default;
};

// True if the input lists edges, which may also be rows of a node table.
inline bool listsEdges(const InputRole& role) { return role.kind == RoleKind::Index || role.kind == RoleKind::Ends; }

enum class TableKind : std::uint8_t { None, Node, Edge, Graph };

// The spelling of a role in --role, its help, `inspect` and docs/.
struct RoleWord {
    const char* name;
    const char* types;  // after the name; may be omitted
    RoleKind kind;
    EdgeForm form;        // Index
    TableKind rows;       // unless compressed
    const char* meaning;  // for docs/: "the input holds .."
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
     "the compressed destinations of edges: the position at which each node's edges begin, and the number of all edges",
     "where each destination's edges begin, 1 \u2192 2"},
    {"starts", ":S>T", RoleKind::Index, EdgeForm::Starts, TableKind::Edge, "offsets without the last number",
     "where each destination's edges begin, 1 \u2192 2"},
    {"edge", ":R", RoleKind::Edge, {}, TableKind::Edge, "one row per edge of the input `R`", "a row per edge of 1"},
    {"key", ":T>U", RoleKind::Key, {}, TableKind::Node, "for each row of `T`, row numbers of table `U`", "2 of each 1"},
    {"graph", "", RoleKind::Graph, {}, TableKind::Graph, "one row per graph", "a row per 1"},
    {"plain", "", RoleKind::Plain, {}, TableKind::None, "no rows", "no rows"},
});

// Returns the spelling of a role: the same for [2, E] and [E, 2], and for Index and Ends.
const RoleWord& wordOf(const InputRole& role);
// Returns all spellings: "node:T, index:S>T, .., graph or plain".
std::string listRoles();
// Returns a role with its types: "node:user", "index:user>item", "edge:rel", "key:node>graph", "graph:graph", "plain".
// --role accepts the result, except for the name behind "graph".
std::string roleText(const InputRole& role);

// The table to which the rows of an input belong, and the dimension that counts them.
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
// True if an index of this form has only one end. Another input has the other, except for bags.
constexpr bool isOneEnd(EdgeForm form) { return !hasEnd(form, 0) || !hasEnd(form, 1); }
// True if an index of this form holds the start of each destination's edges. If no input holds the sources, the edges
// are the items of bags, and each has the node of its bag at both ends.
constexpr bool isCompressed(EdgeForm form) { return traitsOf(form).first || traitsOf(form).last; }
// True if an index of this form does not hold the number of edges. edgeCount() is then a lower bound of it.
constexpr bool lacksTotal(EdgeForm form) { return isCompressed(form) && !traitsOf(form).last; }
// Returns by how many a compressed form has more offsets than destinations.
constexpr std::int64_t extraOffsets(EdgeForm form) { return traitsOf(form).first && traitsOf(form).last ? 1 : 0; }
// Returns the position at which the edges of `row` begin, given the numbers of a compressed index. After the last row
// this is the number of edges, which `edges` provides if the form lacks it.
inline std::int64_t offsetAt(const IntColumn& numbers, EdgeForm form, std::int64_t row, std::int64_t edges)
{
    const std::int64_t at = row - (traitsOf(form).first ? 0 : 1);
    return at < 0 ? 0 : at < numbers.size() ? numbers[at] : edges;
}
// Returns the number of edges in the index. A form that lacks it gives the start of the last destination's edges.
std::int64_t edgeCount(const base::TensorView& index, EdgeForm form);
// Returns the numbers of one end of the index, which has `edges` edges. Those of a compressed index are expanded, which
// takes time linear in destinations and edges, and memory linear in the edges.
IntColumn endColumn(const base::TensorView& index, EdgeForm form, int end, std::int64_t edges);

// The roles of data keys and, for weights declared as tables, of dotted parameter names.
struct InputSchema {
    std::map<std::string, InputRole> roles;
    std::map<std::string, std::int64_t> sizes;  // node types, relations and graph tables: number of rows in the data
    std::vector<std::string> notes;             // the guesses, for example "KEY: assumed to be .."
    std::set<std::string>
        gathered;  // graph tables whose rows are computed like those of nodes, each from the rows of its graph
};

// True if an input has the sources of a relation's edges; otherwise the edges are the items of bags.
bool listsSources(const InputSchema& schema, const std::string& relation);

// True if the table is one of nodes: an input whose role is not `graph` has its rows, or edges begin or end there. Other
// targets of keys are tables of graphs, which count as nodes if the schema says so (`gathered`).
bool isNodeTable(const InputSchema& schema, const std::string& table);

// Parses one --role NAME=ROLE, with or without types. Fails with Usage on anything else. The result does not say
// whether an index is [2, E] or [E, 2]; its shape does.
base::Result<std::pair<std::string, InputRole>> parseRole(const std::string& text);

// Returns the number of rows of a weight: one of the `parameters`, or several that the model concatenates along their
// rows ("user.weight+item.weight"); nullopt for other names.
std::optional<std::int64_t> rowsOfWeight(const std::map<std::string, std::int64_t>& parameters,
                                         const std::string& name);

// Roles that inferSchema() takes as given, by data key or name of a weight.
using Overrides = std::map<std::string, InputRole>;

// Parses several --role; the last one for a name takes precedence. Fails with Usage if one of them is not a role.
base::Result<Overrides> parseRoles(const std::vector<std::string>& texts);

// Infers the schema of `inputs`, given overrides. Reads shapes, dtypes and the numbers of integer vectors and matrices
// (linear in their size). Fails with Input if sizes contradict each other, or if ids are negative or out of range
// (naming the first bad position and the count). Also fails if an override does not fit its input, or names neither an
// input nor one of the model's `parameters` (dotted names and numbers of rows; rowsOfWeight()). Parameters may be declared as tables of
// the data: a table that only ids point into has as many rows as its weight. If the first dimension of a feature is
// smaller than the ids of edges require, its rows lie along the first dimension that is large enough. Edges that an
// input points to (the reverse of each edge, pairs of edges) are a node table; so are rows that are requested by
// number. Types are named after the data keys: Dict keys name node types ("xs.user" -> user) and relations
// ("es.user__to__item" -> user > item); otherwise there is one relation per list of edges, and one node type, "node",
// unless names or sizes of inputs tell several apart.
base::Result<InputSchema> inferSchema(const base::TensorMap& inputs, const Overrides& overrides,
                                      const std::map<std::string, std::int64_t>& parameters = {});

}  // namespace hopscope::analysis

#pragma once

// The input schema: the role of each data key. A model file does not say which argument holds node features and which
// an edge index. Roles are inferred from names, dtypes and sizes, and can be overridden (--role).

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
    Starts,       // [N]: the same without the last number, which is the number of edges
};

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
    int dim = 0;                     // Node: the dimension of the rows; 1 of features [B, N, F]
    bool operator==(const InputRole&) const = default;
};

// True if an index of this form has end 0 (sources) or 1 (destinations).
constexpr bool hasEnd(EdgeForm form, int end)
{
    return form == EdgeForm::Rows || form == EdgeForm::Pairs || (form == EdgeForm::Source) == (end == 0);
}
// True if an index of this form has only one end, and another input has the other.
constexpr bool isOneEnd(EdgeForm form) { return form != EdgeForm::Rows && form != EdgeForm::Pairs; }
// True if an index of this form holds the start of each destination's edges. If no input holds the sources, the edges
// are the items of bags, and each has the node of its bag at both ends.
constexpr bool isCompressed(EdgeForm form) { return form == EdgeForm::Offsets || form == EdgeForm::Starts; }
// Returns the number of edges in the index. Starts do not contain it: for them, returns the start of the last
// destination's edges.
std::int64_t edgeCount(const base::TensorView& index, EdgeForm form);
// Returns the numbers of one end of the index, which has `edges` edges. Those of a compressed index are expanded, which
// takes time and memory linear in the edges.
IntColumn endColumn(const base::TensorView& index, EdgeForm form, int end, std::int64_t edges);

// The roles of data keys and, for weights declared as tables, of dotted parameter names.
struct InputSchema {
    std::map<std::string, InputRole> roles;
    std::map<std::string, std::int64_t> sizes;  // node types, relations and graph tables: number of rows in the data
    std::vector<std::string> notes;             // the guesses, as sentences
    std::set<std::string>
        gathered;  // graph tables whose rows are computed like those of nodes, each from the rows of its graph
};

// True if an input has the sources of a relation's edges; otherwise the edges are the items of bags.
bool listsSources(const InputSchema& schema, const std::string& relation);

// True if the table is one of nodes: an input has its rows, or edges begin or end there. Other targets of keys are
// tables of graphs, which count as nodes if the schema says so (`gathered`).
bool isNodeTable(const InputSchema& schema, const std::string& table);

// Parses one --role NAME=node:T | index:S>T | source:S>T | destination:S>T | offsets:S>T | starts:S>T | edge:R |
// key:T>U | graph | plain. `:T`, `:R` and `S>T` may be omitted. The shape of an index shows whether it is [2, E] or
// [E, 2].
// Fails with Usage on anything else.
base::Result<std::pair<std::string, InputRole>> parseRole(const std::string& text);

// Roles that were not inferred, by data key or name of a weight.
using Overrides = std::map<std::string, InputRole>;

// Parses several --role; the last one for a name takes precedence. Fails with Usage if one of them is not a role.
base::Result<Overrides> parseRoles(const std::vector<std::string>& texts);

// Infers the schema of `inputs`, given overrides. Reads shapes, dtypes and, for integer vectors and index pairs, the
// largest number (linear in their size). Fails with Input if sizes contradict each other, or if ids are negative or out
// of range (naming the first bad position and the count). Also fails if an override names neither an input nor one of
// the model's `parameters` (dotted names and numbers of rows). Parameters may be declared as tables of the data: a
// table that only ids point into has as many rows as its weight. If the first dimension of a feature is smaller than
// the ids of edges require, its rows lie along a later dimension. Edges that an input points to (the reverse of each
// edge, pairs of edges) are a node table; so are rows that are requested by number. Types are named after the data
// keys: Dict keys name node types ("xs.user" -> user) and relations ("es.user__to__item" -> user > item); otherwise
// there is one node type, "node", and one relation per index.
base::Result<InputSchema> inferSchema(const base::TensorMap& inputs, const Overrides& overrides,
                                      const std::map<std::string, std::int64_t>& parameters = {});

}  // namespace hopscope::analysis

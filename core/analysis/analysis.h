#pragma once

// Declares the facts that the analysis finds in a program: which rows each value has, how each operator moves between
// rows, what depends on structure alone, and where the model cannot be split. They are plain data. analysis/analyse.h
// creates them, and analysis/rows/classes.h derives their consequences inside a batch.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/rows.h"

namespace hopscope::analysis {

using ir::KeyId;
using ir::OpId;
using ir::Slot;
using ir::SpaceId;
using ir::ValueId;

enum class SpaceKind : std::uint8_t { Node, Edge, Graph, Filter, Cat, Perm, Opaque };

// A table of rows. A derived table refers to the tables that it is derived from.
struct Space {
    SpaceKind kind = SpaceKind::Opaque;
    std::string name{};  // Node, Edge, Graph: the declared name, "3 rows" if added; Opaque: why its rows are unknown
    SpaceId parent{};    // Filter, Perm: the table selected from
    ValueId selector{};  // Filter: the boolean mask over parent; Perm: the order (row numbers of parent)
    std::vector<SpaceId> parts{};  // Cat
    std::int64_t rows = 0;         // Node, Graph: the number of rows, if the file fixes it; else 0
    SpaceId ends[2]{};             // Edge: the tables that end 0 (sources) and end 1 (destinations) point into
    ValueId index{};               // Edge: the [2, E] or [E, 2] input...
    ValueId columns[2]{};          // ...or a value for each end; items of bags have the same for both
    ValueId offsets{};             // Edge: the input that holds the start of each destination's edges (CSR)

    // Returns the input that holds an end of the edges; invalid if the edges are derived.
    [[nodiscard]] ValueId givenEnd(int end) const
    {
        const bool bags = columns[0].valid() && columns[0] == columns[1];
        if (offsets.valid() && (end == 1 || bags)) return offsets;
        return columns[end].valid() ? columns[end] : index;
    }
    // True for rows that forward adds to those of a table, such as a mean of all nodes.
    [[nodiscard]] bool isAdded() const { return kind == SpaceKind::Graph && rows > 0; }
};

enum class KeyKind : std::uint8_t { Id, Pos, End, Foreign, Of, Parts };

// A key of a table: for each of its rows, a row of another table or of the same one.
//   Id       a node table's own row number          Pos      the row number (Filter, Perm: of the parent)
//   End      end 0 or 1 of an edge table             Foreign  an integer column, such as a batch vector, or row `end`
//                                                             of a pair of them
//   Of       composition: second[first]              Parts    one key per part of a Cat
// Filter and Perm tables inherit the keys of their parent, except Pos, under the same KeyId.
struct Key {
    KeyKind kind = KeyKind::Id;
    int end = 0;
    ValueId column{};
    KeyId first{}, second{};
    std::vector<KeyId> parts{};
};

// "This integer tensor holds key `key` of the rows of `space`; its numbers are rows of `target`."
struct Role {
    SpaceId space;
    KeyId key;
    SpaceId target;
    bool operator==(const Role&) const = default;
};

// Interned tables and keys: equal ones have the same id.
struct Tables {
    std::vector<Space> spaces;
    std::vector<Key> keys;
    std::map<std::pair<SpaceId, KeyId>, SpaceId> usedKeys;  // keys of inputs and keys that operators need: targets

    [[nodiscard]] const Space& space(SpaceId id) const { return spaces[id.at()]; }
    [[nodiscard]] const Key& key(KeyId id) const { return keys[id.at()]; }
    [[nodiscard]] bool isRow(SpaceId id) const { return id.valid() && space(id).kind != SpaceKind::Graph; }
    SpaceId target(SpaceId space, KeyId key) const;  // invalid if the table has no such key
    KeyId idKey() const { return KeyId(0); }         // always interned first
    KeyId posKey() const { return KeyId(1); }
    KeyId endKey(int end) const { return KeyId(2 + end); }
    std::string spaceName(SpaceId id) const;             // "v", "e", "e[v12]", "(e[v12] + v)"
    std::string keyName(KeyId id) const;                 // "id", "row", "end0", "v7"
    std::string className(const ir::RowClass& c) const;  // "B(v)", "O(e,end1)", "F(v)", "ALL"
};

// A number that is linear in the sizes of tables and in atoms: the sum of coefficient x |space| and coefficient x atom,
// plus a constant. An atom is a value about which nothing is known: an input, or the result of other arithmetic.
struct Linear {
    std::map<SpaceId, std::int64_t> sizes;
    std::map<ValueId, std::int64_t> atoms;
    std::int64_t constant = 0;
    bool operator==(const Linear&) const = default;

    [[nodiscard]] bool isConstant() const { return sizes.empty() && atoms.empty(); }
};

// The offsets of compressed rows (All), such as edges grouped by destination, and tensors derived from them. For each
// row of the other table, Begin is its first position, End the position after its last one, and Count the number of its
// positions. Inner is End without the last row.
enum class OffsetsPart : std::uint8_t { All, Begin, End, Inner, Count };
struct Compressed {
    Role rows;
    OffsetsPart part = OffsetsPart::All;
    ValueId column{};  // the numbers of rows.key, if the offsets were made from them
};

struct ValueInfo {
    std::vector<SpaceId> dims;    // per dimension: its row space, or none
    std::optional<Role> role;     // an index column
    std::vector<Role> pairRoles;  // a [2, E]-like tensor: the role of each of its rows
    std::set<SpaceId> elements;   // tables whose row numbers the tensor may hold
    bool structureOnly = false;   // follows from integers, booleans, edge weights and constants alone: in the prologue
    bool uniform = false;         // structureOnly and the same for every row: recreated locally
    std::optional<Linear> size;   // numbers and 0-dim tensors that are sizes
    bool sparse = false;          // a matrix; its entries are the rows of sparseRow.space
    Role sparseRow, sparseColumn;
    // If set, the value holds such offsets. All has one number more than there are destinations, and Inner one fewer,
    // so neither has a row space.
    std::optional<Compressed> compressed;

    [[nodiscard]] bool scalarShape() const { return dims.empty(); }
};

// The way in which an operator uses one of its operands.
enum class Use : std::uint8_t {
    Same,          // on the rows of the result
    Shape,         // only its shape or dtype is used: no dependency
    Init,          // aggregation: the table written into; on the rows of the result
    Index,         // on the rows of the result (gather) or of the messages (aggregation); renumbered to local rows
    Source,        // gather: the table that is read through the operator's role
    Message,       // aggregation: on the rows of role.space owned by role.key
    SparseSource,  // sparse product: the dense operand, read on the frontier through the matrix's column role
    SparseMatrix,  // sparse product: the matrix, its entries owned by the row key
    Part,          // concatenation of rows: part number `part`
    Parent,        // selection: the rows selected from
    Reduced,       // reduction over rows: read from a partition
    Whole,         // reduction: the table written into, a value without rows
};

struct OperandUse {
    Use use = Use::Same;
    int part = 0;
};

enum class OpKind : std::uint8_t {
    Rowwise,    // each result row from the same row of the operands
    Gather,     // rows of role.target picked by role.key of role.space
    Select,     // rows of a Filter or Perm table picked from its parent
    Concat,     // rows of a Cat table from its parts
    Aggregate,  // rows of role.space combined into rows of role.target by role.key
    Reduce,     // over all rows: the result has none
    Scalar,     // arithmetic on numbers
};

enum class Reduction : std::uint8_t {
    Sum,
    Mean,
    Max,
    Min,
    Var,
    Std,
    Norm2,
    FunctionSum,
    ScatterSum,
    ScatterMean,
    ScatterMax,
    ScatterMin
};

struct OpInfo {
    OpKind kind = OpKind::Rowwise;
    std::map<Slot, OperandUse> uses;  // per operand slot; missing means Same
    Role role;                        // Gather, Aggregate
    // Gather, Select, Concat, Aggregate: the row dimension worked on; Scatter*: the dimension of the slots
    int dim = 0;
    SpaceId result;  // Select, Concat: the derived table
    Reduction reduction = Reduction::Sum;
    std::vector<int> reducedDims;  // Reduce
    bool keepDim = false;
    bool includeSelf = true;     // Scatter*: whether the initial table takes part
    double correction = 1;       // Var, Std
    bool structureOnly = false;  // all outputs are
    bool feedsChoice = false;    // a comparison, a rounding or the like depends on it: exact ties have to stay ties
    bool view = false;           // costs nothing, belongs to its consumer, and is stored only as an output or if pinned
    std::string prologueReason;  // prologue operators whose rows stages cannot use: the reason
    int depth = 0;               // rounds of message passing that the result depends on
    int depthModule = 0;
    int depthOp = 0;

    [[nodiscard]] OperandUse use(Slot slot) const
    {
        const auto it = uses.find(slot);
        return it == uses.end() ? OperandUse{} : it->second;
    }
};

// A diagnostic for the user about an operator or the whole model. A `blocking` one is the reason why the model cannot
// be split or run.
struct Lint {
    std::string code;  // of a blocking one "no-split", "no-run" or "untrusted"; of others, for example, "nan-weights"
    std::string message;
    OpId op;  // may be invalid
    bool blocking = false;
    std::string hint = {};  // a remedy for the user; may be empty
};

// The condition that the largest number in `index` is |space| - 1 on the real data as well.
struct MaxIndexGuard {
    ValueId index;
    SpaceId space;
    OpId op;
};

// The operator that a product with a weight is computed before instead of after it: an aggregation, the gather of its
// rows, or a concatenation of columns.
enum class MovedBefore { Sum, Gather, Columns };

struct Reassociation {
    std::string place, module;     // of the product: ir::describeOp, ir::modulePath
    std::int64_t in = 0, out = 0;  // columns of the rows that are gathered or joined, before and after the change
    MovedBefore before = MovedBefore::Sum;
};

struct Analysis {
    // Functional: no aliasing, no in-place operators, common subexpressions merged. As given if unanalysed() made it.
    ir::Program program;
    std::vector<ValueInfo> values;  // by ValueId
    std::vector<OpInfo> ops;        // by OpId
    Tables tables;
    std::map<SpaceId, std::int64_t> sampleSizes;
    std::vector<MaxIndexGuard> maxIndexGuards;
    std::vector<Lint> lints;
    bool reassociate = false;                     // whether --reassociate was given
    std::vector<Reassociation> reassociations{};  // the products that were moved
    // If set, the reason why the model cannot be split or run; all depths are 0. If the analysis stopped at an operator,
    // this operator and those after it remain in the program as rowwise operators (those on numbers as Scalar).
    std::optional<base::Error> refusal;
    OpId refusedOp;  // the refused operator; invalid if the cause is not an operator of the program
    int depth = 0, depthModule = 0, depthOp = 0;

    [[nodiscard]] const ValueInfo& info(ValueId id) const { return values[id.at()]; }
    [[nodiscard]] const OpInfo& info(OpId id) const { return ops[id.at()]; }

    // Returns the row space of a value, or the dimension that carries it; invalid or -1 if there is none. Graph rows do
    // not count. The rows of a sparse matrix are its entries, to which none of its dimensions belongs.
    [[nodiscard]] SpaceId rowSpace(ValueId id) const;
    [[nodiscard]] int rowDim(ValueId id) const;
    [[nodiscard]] bool hasRows(ValueId id) const { return rowSpace(id).valid(); }
    // True if the sizes of all tables in the value's shape are known from the graph.
    [[nodiscard]] bool knownShape(ValueId id) const;
    // True if the value is available before the first stage: inputs, parameters, constants and all structure-only
    // values.
    [[nodiscard]] bool available(ValueId id) const;
};

// A key by which rows of the data have to be sorted, and the value that holds its numbers.
struct SortedRows {
    Role rows;
    ValueId column;
};
// Returns the order of rows that the analysis of an operator relies on; nullopt if it relies on none.
std::optional<SortedRows> sortedRows(const Analysis& analysis, const ir::Op& op);

}  // namespace hopscope::analysis

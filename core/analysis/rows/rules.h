#pragma once

// Private to analysis: the operator rules, one function per family. The table of operators (operators/table.cpp)
// assigns them to operators.

#include <functional>
#include <map>

#include "analysis/naming/table_labels.h"
#include "analysis/rows/builder.h"

namespace hopscope::analysis {

// The reason why a rule refuses an operator: a text, and the kind of fault, which the hint depends on.
struct Refused {
    enum class Kind : std::uint8_t {
        Operator,         // anything else
        Unruled,          // an operator whose work on rows no rule describes
        BakedSize,        // a number of rows is a constant of the file
        Roles,            // rows or row numbers whose table is unknown
        Constant,         // row numbers stored in the file
        RowWeight,        // a weight with a row for each row of an undeclared table
        Selection,        // the choice of rows depends on features
        Features,         // row numbers that depend on features
        Orders,           // rows of one table in two orders, or two selections of them
        Counted,          // the largest of some row numbers used as a number of rows
        Counting,         // numbers of rows that depend on the values of the graph
        Position,         // rows by their position
        Parts,            // parts of a table, by the positions of their rows
        Repeated,         // rows several times
        Added,            // rows that belong to no table
        Into,             // aggregation into rows that were selected
        OneByOne,         // several dimensions indexed at once
        Places,           // writes at places in several dimensions
        Masked,           // a mask of single elements
        Written,          // other rows written than those selected
        AllPairs,         // rows by rows
        Adjacency,        // edges as a dense matrix
        Dense,            // a dense input of an operator that also takes a sparse one
        Sparse,           // a sparse matrix that is not made of edges
        FromRight,        // a sparse matrix as the second factor
        Fused,            // a product over rows and an addition in one operator
        SparseResult,     // a sparse matrix as a result of the model
        SparseReduction,  // a reduction of the products of a row other than their sum
        Factors,          // the second factor has rows
        Columns,          // a weight with a column for each row of a table
        Slopes,           // prelu with a slope for each row of a table
        Offsets,          // segments whose beginnings are unknown
        AllRows,          // a result that cannot be merged from parts
        Readout,          // rows of a graph combined in a way that cannot be merged
        Statistics,       // a result over rows that can be merged if it is written differently
        Number,           // a number that depends on features
        Width,            // a number of columns that depends on features
        Merged,           // rows and something else in one dimension
        Derived,          // a number of rows that depends on the values of the graph
        Argument,         // an argument that the rule does not support
        Dimension,        // a dimension that LibTorch chooses by its size
    };

    Refused(std::string what, Kind k = Kind::Operator) : text(std::move(what)), kind(k) {}
    Refused(const char* what) : text(what) {}

    std::string text;
    Kind kind = Kind::Operator;
};

using Refusal = tl::unexpected<Refused>;
template <class T>
using Ruled = tl::expected<T, Refused>;

// Returns a remedy that the user can apply to a refusal of this kind.
const char* hintOf(Refused::Kind kind);

// Returns the refusal of an operator that expects a number of rows which is a constant of the file and does not follow
// from the inputs.
inline Refused bakedSize(const std::string& what)
{
    return {what + ": a size is baked into the file", Refused::Kind::BakedSize};
}

using Outcomes = std::vector<Outcome>;
class RuleContext;

// Returns the refusal of a constant dimension that meets rows of the table.
Refused constantMeets(const RuleContext& c, std::int64_t extent, SpaceId table);

// A number that is no valid dimension, row or step.
constexpr std::int64_t unknownNumber = -(std::int64_t{1} << 40);

// One operator under its rule: its arguments by name, the facts known about its operands, and the OpInfo to fill in.
class RuleContext {
public:
    RuleContext(Builder& b, const ir::Op& o, const std::vector<ir::Value>& results, OpInfo& i)
        : builder(b),
          op(o),
          outputs(results),
          info(i),
          name(o.name.substr(o.name.find("::") + 2))
    {}

    Builder& builder;
    const ir::Op& op;
    const std::vector<ir::Value>& outputs;  // dtype and sample shape of each output
    OpInfo& info;
    const std::string name;       // without namespace
    std::optional<ValueId> same;  // set by a rule: the result simply is this value

    [[nodiscard]] int index(const std::string& argument) const;           // -1 if the schema has no such argument
    [[nodiscard]] bool has(const std::string& argument) const;            // present and not None
    [[nodiscard]] const ir::Arg& arg(const std::string& argument) const;  // None if there is none
    [[nodiscard]] ValueId tensor(const std::string& argument) const;      // invalid if it is none
    // Returns a literal; `otherwise` if the argument is None, and unknownNumber if it depends on the inputs.
    [[nodiscard]] std::int64_t integer(const std::string& argument, std::int64_t otherwise) const;
    [[nodiscard]] bool boolean(const std::string& argument, bool otherwise = false) const;
    [[nodiscard]] std::string text(const std::string& argument) const;
    [[nodiscard]] Slot slot(const std::string& argument) const { return {index(argument), -1}; }
    void use(Slot slot, Use how, int part = 0) { info.uses[slot] = {how, part}; }

    // The accessors above mark an argument as read. These functions mark arguments that have the same meaning on any
    // rows, and with which the operator itself runs.
    void passOn(std::initializer_list<const char*> arguments) const;
    void passOnAll() const;
    void forgetRead() const { m_read.clear(); }
    // Returns a refusal of the first unread argument that differs from its default, or of the first unread operand with
    // rows.
    [[nodiscard]] std::optional<Refused> unread() const;

    // Returns the tensor operands that are dependencies (not Shape), in order, and marks all tensor operands as read.
    [[nodiscard]] std::vector<ValueId> operands() const;
    // Returns the same operands without marking any as read.
    [[nodiscard]] std::vector<ValueId> dependencies() const;

    [[nodiscard]] const ValueInfo& of(ValueId v) const { return builder.analysis.info(v); }
    [[nodiscard]] const ir::Value& value(ValueId v) const { return builder.analysis.program.value(v); }
    [[nodiscard]] const std::vector<SpaceId>& dims(ValueId v) const { return of(v).dims; }
    [[nodiscard]] const std::vector<std::int64_t>& shape(ValueId v) const { return value(v).shape; }
    [[nodiscard]] int rank(ValueId v) const { return static_cast<int>(shape(v).size()); }
    // LibTorch treats a single number as a vector of one element, so that it has a dimension, without rows.
    [[nodiscard]] SpaceId dim(ValueId v, int d) const
    {
        return d < rank(v) ? dims(v)[static_cast<std::size_t>(d)] : SpaceId{};
    }
    [[nodiscard]] std::int64_t extent(ValueId v, int d) const
    {
        return d < rank(v) ? shape(v)[static_cast<std::size_t>(d)] : 1;
    }
    [[nodiscard]] bool isRow(SpaceId s) const { return builder.analysis.tables.isRow(s); }
    [[nodiscard]] bool anyRow(const std::vector<SpaceId>& d) const;
    [[nodiscard]] bool structure(ValueId v) const { return of(v).structureOnly; }
    [[nodiscard]] const Space& space(SpaceId s) const { return builder.analysis.tables.space(s); }
    [[nodiscard]] std::string spaceName(SpaceId s) const { return tableLabel(builder.analysis.tables, s); }

    // Returns an integer argument (literal or number value) as a linear form; nullopt if it is not a number.
    [[nodiscard]] std::optional<Linear> linear(const ir::Arg& a) const;
    [[nodiscard]] std::vector<ir::Arg> items(const std::string& argument) const;  // a list argument, or its one item
    // Returns the literal integers of a list argument; -2 stands for items that are not literal.
    [[nodiscard]] std::vector<std::int64_t> integers(const std::string& argument) const;

    // Returns the row space with this size; none for constants. Refuses other sizes.
    [[nodiscard]] Ruled<SpaceId> spaceOf(const Linear& size) const;
    [[nodiscard]] Ruled<SpaceId> spaceOf(const ir::Arg& size) const;

    // Returns the refusal of rows of two spaces that cannot be combined.
    [[nodiscard]] Refused differ(SpaceId a, SpaceId b) const;

    // Broadcasts dims, aligned on the right. Refuses unequal spaces, and constants that meet rows.
    struct Shaped {
        std::vector<SpaceId> dims;
        std::vector<std::int64_t> shape;
    };
    [[nodiscard]] Ruled<std::vector<SpaceId>> broadcast(const std::vector<Shaped>& operands) const;
    [[nodiscard]] Ruled<std::vector<SpaceId>> broadcastOperands() const;
    [[nodiscard]] Shaped shaped(ValueId v) const { return {dims(v), shape(v)}; }

    // Returns an outcome with these dims for each output.
    [[nodiscard]] Outcomes all(const std::vector<SpaceId>& d) const;
    [[nodiscard]] static Outcomes one(std::vector<SpaceId> d);
    // Returns one outcome with these dims and the roles of `v`.
    [[nodiscard]] Outcomes keep(ValueId v, std::vector<SpaceId> d, bool pairRoles = false) const;

private:
    mutable std::set<int> m_read;  // positions of arguments
};

using RowRule = Ruled<Outcomes> (*)(RuleContext&);

// Returns the rule of an operator ("aten::add"); nullptr if the operator may not be used on rows.
RowRule ruleFor(const std::string& name);

// Returns a copy of the operator with all its arguments, to be emitted on other operands.
ir::Op anew(const RuleContext& c);

int wrapDim(std::int64_t dim, int rank);

// Return the refusal of an `index` whose target table is unknown, or is a table other than `table`, with the reason.
Refused unknownIndex(const RuleContext& c, ValueId index, SpaceId table);
Refused otherTarget(const RuleContext& c, const Role& role, SpaceId table);

// The families of rules (rules_*.cpp).
Ruled<Outcomes> pointwiseRule(RuleContext&);
Ruled<Outcomes> copyRule(RuleContext&);
Ruled<Outcomes> fillRule(RuleContext&);
Ruled<Outcomes> arangeRule(RuleContext&);
Ruled<Outcomes> dimwiseRule(RuleContext&);
Ruled<Outcomes> reduceRule(RuleContext&);
Ruled<Outcomes> layerNormRule(RuleContext&);
Ruled<Outcomes> normRule(RuleContext&);
Ruled<Outcomes> cellRule(RuleContext&);
Ruled<Outcomes> recurrentRule(RuleContext&);
Ruled<Outcomes> oneHotRule(RuleContext&);
Ruled<Outcomes> nonzeroRule(RuleContext&);
Ruled<Outcomes> numberTensorRule(RuleContext&);
Ruled<Outcomes> opaqueRule(RuleContext&);
Ruled<Outcomes> convolutionRule(RuleContext&);
Ruled<Outcomes> crossRule(RuleContext&);
Ruled<Outcomes> batchedRule(RuleContext&);
Ruled<Outcomes> diagonalRule(RuleContext&);
Ruled<Outcomes> unfoldRule(RuleContext&);
Ruled<Outcomes> tensordotRule(RuleContext&);

Ruled<Outcomes> differenceRule(RuleContext&);
Ruled<Outcomes> compressRule(RuleContext&);
Ruled<Outcomes> uncompressRule(RuleContext&);
Ruled<Outcomes> segmentsRule(RuleContext&);

Ruled<Outcomes> reshapeRule(RuleContext&);
Ruled<Outcomes> unsqueezeRule(RuleContext&);
Ruled<Outcomes> expandRule(RuleContext&);
Ruled<Outcomes> repeatRule(RuleContext&);
Ruled<Outcomes> repeatInterleaveRule(RuleContext&);
Ruled<Outcomes> permuteRule(RuleContext&);
Ruled<Outcomes> selectRule(RuleContext&);
Ruled<Outcomes> sliceRule(RuleContext&);
Ruled<Outcomes> splitRule(RuleContext&);
Ruled<Outcomes> flipRule(RuleContext&);
Ruled<Outcomes> padRule(RuleContext&);
Ruled<Outcomes> putBackRule(RuleContext&);
Ruled<Outcomes> stackRule(RuleContext&);
Ruled<Outcomes> catRule(RuleContext&);

Ruled<Outcomes> linearRule(RuleContext&);
Ruled<Outcomes> einsumRule(RuleContext&);
Ruled<Outcomes> matmulRule(RuleContext&);
Ruled<Outcomes> sparseRule(RuleContext&);
Ruled<Outcomes> coalesceRule(RuleContext&);

Ruled<Outcomes> indexSelectRule(RuleContext&);
Ruled<Outcomes> embeddingRule(RuleContext&);
Ruled<Outcomes> gatherRule(RuleContext&);
Ruled<Outcomes> indexRule(RuleContext&);
Ruled<Outcomes> scatterRule(RuleContext&);
Ruled<Outcomes> indexPutRule(RuleContext&);
Ruled<Outcomes> bincountRule(RuleContext&);
Ruled<Outcomes> groupsRule(RuleContext&);

}  // namespace hopscope::analysis

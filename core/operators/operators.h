#pragma once

// Provides facts about operators, one line per operator (table.cpp): whether it may run at all, how its results share
// memory with its operands, its rule, how it can be repeated or run in place, and what its cost depends on.
//
// An operator on tensors may run if known() is true of it, or if it consists of operators that may run. Adding an
// operator takes a line in table.cpp and a row in tests/models/operators.py.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hopscope::operators {

// The family of rules that an operator belongs to; analysis maps each one to a function. None: there is no such
// function. The operator may then only be used on values without rows, and on values that depend on structure alone,
// which are computed once for the whole graph. Operators that the walk or the lowering removes or replaces (dropout in
// eval mode, copy_) may be used on any rows.
enum class Rule : std::uint8_t {
    None,
    Arange,
    Batched,
    Bincount,
    Cat,
    Cell,
    Coalesce,
    Compress,
    Convolution,
    Copy,
    Cross,
    Diagonal,
    Difference,
    Dimwise,
    Einsum,
    Embedding,
    Expand,
    Fill,
    Flip,
    Gather,
    Groups,
    Index,
    IndexPut,
    IndexSelect,
    LayerNorm,
    Linear,
    Matmul,
    Nonzero,
    Norm,
    NumberTensor,
    OneHot,
    Pad,
    Permute,
    Pointwise,
    PutBack,
    Recurrent,
    Reduce,
    Repeat,
    RepeatInterleave,
    Reshape,
    Scatter,
    Segments,
    Select,
    Slice,
    Sparse,
    Split,
    Stack,
    Tensordot,
    Uncompress,
    Unfold,
    Unsqueeze,
};

// The memory that the results of an operator share with its first operand. The walk compares storages and refuses
// operators that contradict this.
enum class Aliasing : std::uint8_t {
    Fresh,        // memory of their own
    Copy,         // a copy, with the same numbers if the dtype is the same
    Same,         // the operand itself
    SameDtype,    // the operand itself if it has the requested dtype, else a copy: the same on every graph
    SameIfDense,  // the operand itself if it has the requested layout, else a copy
    View,         // views
    ViewIfDense,  // a view if strides allow it, else a copy
    Unfollowed,   // may share memory with an operand: a write in place to one is refused if the other is read later
};

// The way to undo a view, so that a write through the view can be made to its base.
enum class Undo : std::uint8_t {
    None,  // not a view, or one that cannot be undone
    Select,
    Unbind,
    Slice,
    Narrow,
    Section,  // one of several pieces
    Reshape,
    Swap,     // two dimensions, named by arguments 1 and 2
    Reverse,  // all dimensions
    Permute,
    Move,
    SameShape,  // expansions that expand nothing, and real() of real numbers
};

enum class Fill : std::uint8_t { None, Zero, One, Number };

// What in-place operators write that have no plain twin in the table, as `relu_` has `relu`.
enum class Write : std::uint8_t { None, Zero, Copy };

struct Operator {
    std::string_view name;  // "relu" for aten::relu; with its namespace if that is not aten
    Rule rule = Rule::None;
    struct Traits {
        Aliasing aliasing = Aliasing::Fresh;
        Undo undo = Undo::None;
        Fill fill = Fill::None;
        Write write = Write::None;
        int fillArgument = -1;       // Fill::Number: the position of the argument with the number
        bool aggregates = false;     // adds a round of message passing where it combines rows
        bool multiplies = false;     // computes matrix products: its work also grows with the width that it sums over
        bool overwrites = false;     // its in-place twin may write over an operand that is no longer read
        bool tells = false;          // its results are booleans for any operands
        bool keepsOrder = false;     // renumbering rows in the same order does not change its result
        bool otherForShape = false;  // its argument "other" only provides a shape or a dtype
        bool intoSelf = false;       // its result has the dimensions of "self", and replaces all of it or a part
        bool mixesRows = false;      // its result can differ between rows even if its operands do not
        bool jumps = false;          // rounding of an operand can change more than the last digits of its result
        bool countsContent = false;  // the size of its result depends on the values of its operands
        bool ofCoalesced = false;    // its result is a part that only coalesced sparse matrices have
        bool plumbing = false;       // irrelevant to the description of a stage
        // Rule::Batched: one character per argument, the number of last dimensions that one call needs as a whole. The
        // dimensions before them are a batch and may be rows. "." stands for an argument that may not have rows.
        std::string_view whole = {};
    };
    Traits traits;
};

// The operators, sorted by name.
std::span<const Operator> table();

// Finds an operator by its full name ("aten::relu"); nullptr if the table does not contain it. Of in-place operators the
// table contains copy_, detach_, fill_, requires_grad_ and zero_; others are known by their plain twins.
const Operator* find(std::string_view name);
// The same for an operator that may be missing. It then has no rule and no traits, and its results are fresh.
const Operator& of(std::string_view name);

std::string fullName(const Operator& op);  // "aten::relu"

// Returns the plain twin of an in-place operator: "aten::relu_" -> "aten::relu", "aten::__iand__" -> "aten::__and__".
// Empty for names that do not end in an underscore.
std::string plainName(std::string_view name);

// True if the table has an entry for the operator or its plain twin that lets it run on tensors. For numbers, see
// names.h.
bool known(std::string_view name);

// True if the results are views of the first operand wherever possible.
bool isView(const Operator& op);
bool isView(std::string_view name);
// True if the operator only gives its operand another shape. The rows of the result determine the shape, so that a size
// baked in at export cannot mislead it.
bool reshapes(std::string_view name);
bool expands(std::string_view name);
bool isFill(std::string_view name);
// True for arguments that only provide their shape or dtype.
bool isShapeOnly(std::string_view name, std::string_view argument);

}  // namespace hopscope::operators

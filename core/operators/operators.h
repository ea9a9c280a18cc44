#pragma once

// Hopscope's knowledge of each operator, one line per operator (table.cpp). Everything that depends on an operator's
// name is looked up here: whether it may run at all (loader, verify), how its results share memory with its operands
// (loader, analysis), its rule (analysis), how it can be repeated or run in place (executor), its cost (placement).
//
// An operator without a line does not run. Adding one is a line here and a row in tests/models/operators.py.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hopscope::operators {

// The family of its rule; analysis maps each to a function. None: only on values without rows and on what depends on
// structure alone, which is computed once for the whole graph.
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

// The memory that the results share with the first operand. The walk compares the storages and refuses a contradiction.
enum class Aliasing : std::uint8_t {
    Fresh,        // memory of their own
    Copy,         // a copy, with the same numbers if the dtype is the same
    Same,         // the operand itself
    SameDtype,    // the operand itself if it has the requested dtype, else a copy: the same on every graph
    SameIfDense,  // the operand itself if it has the requested layout, else a copy
    View,         // views
    ViewIfDense,  // a view if strides allow it, else a copy
    Unfollowed,   // may share memory with an operand: writing to it in place is refused
};

// The operator that undoes a view, so that a write through it can be made to its base.
enum class Undo : std::uint8_t {
    None,  // it does not
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
    SameShape,  // expansions that expand nothing
};

enum class Fill : std::uint8_t { None, Zero, One, Number };

// In-place operators without a plain twin of the same name; the others are `relu_` for `relu`.
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
        bool aggregates = false;     // one more round of message passing where it combines rows
        bool multiplies = false;     // a matrix product: its work grows with the other width
        bool overwrites = false;     // its in-place twin may write over an operand that is no longer read
        bool tells = false;          // true or false for any operands
        bool keepsOrder = false;     // the result does not change if rows are renumbered in the same order
        bool otherForShape = false;  // its argument "other" only provides a shape or a dtype
        bool intoSelf = false;       // its result has the dimensions of "self", and replaces all of it or a part
        bool mixesRows = false;      // its result is not the same for every row although its operands are
        bool jumps = false;          // rounding of an operand may change more than the last digits of its result
        bool countsContent = false;  // the size of its result depends on the values of its operands
        bool ofCoalesced = false;    // a part of a sparse matrix that only a coalesced one has
        bool plumbing = false;       // irrelevant to the description of a stage
        // Rule::Batched: for each argument, the number of its last dimensions that one call needs as a whole. The
        // dimensions before them are a batch and may be rows. "." stands for other arguments, which may not have rows.
        std::string_view whole = {};
    };
    Traits traits;
};

// Sorted by name.
std::span<const Operator> table();

// Finds an operator by its full name ("aten::relu"); nullptr if the table does not contain it. An in-place operator is
// found by its own name only if it has no plain twin.
const Operator* find(std::string_view name);
// The same for an operator that may be missing: the result then has no rule and no traits, and fresh results.
const Operator& of(std::string_view name);

std::string fullName(const Operator& op);  // "aten::relu"

// "aten::relu_" -> "aten::relu", "aten::__iand__" -> "aten::__and__"; empty for names that do not write in place.
std::string plainName(std::string_view name);

// True if the table, or the entry of the plain twin, lets it run on tensors. For numbers see names.h.
bool known(std::string_view name);

// Results are views of the first operand wherever they can be: they cost nothing, and are never stored.
bool isView(const Operator& op);
bool isView(std::string_view name);
// The result follows from the shapes alone once its rows are known: a size baked in at export cannot mislead it.
bool reshapes(std::string_view name);
bool expands(std::string_view name);
bool isFill(std::string_view name);
// Arguments that only provide their shape or dtype.
bool isShapeOnly(std::string_view name, std::string_view argument);

}  // namespace hopscope::operators

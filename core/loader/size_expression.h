#pragma once

// Expressions of the sizes of inputs, such as "edge_index.size(1) > 4 * x.size(0)". They have the same meaning as in
// Python; a condition is the number 1 or 0.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/names.h"

namespace hopscope::loader {

struct SizePlace {
    std::string argument;  // data key
    int dim = -1;          // -1: the number itself
    bool operator==(const SizePlace&) const = default;
};

enum class SizeOperator : std::uint8_t {
    Or,
    And,
    Not,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitXor,
    BitAnd,
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Negative,
    Power,
    Choose,  // condition, value if it holds, other value
    Max,
    Min,
    Absolute,
    Floor,
    Ceil,
    Truncate,
    Round,         // half to even
    RoundDecimal,  // to a number of decimal places
    Real,
    SquareRoot,
    Log2,
};

// The names of these operators, which are those of scalar operators (ir/program.h) where such operators exist.
constexpr auto namesOf(SizeOperator)
{
    using enum SizeOperator;
    return std::to_array<base::Named<SizeOperator>>({{Or, "or"},
                                                     {And, "and"},
                                                     {Not, "not"},
                                                     {Equal, "eq"},
                                                     {NotEqual, "ne"},
                                                     {Less, "lt"},
                                                     {LessEqual, "le"},
                                                     {Greater, "gt"},
                                                     {GreaterEqual, "ge"},
                                                     {BitOr, "bitor"},
                                                     {BitXor, "bitxor"},
                                                     {BitAnd, "bitand"},
                                                     {Add, "add"},
                                                     {Subtract, "sub"},
                                                     {Multiply, "mul"},
                                                     {Divide, "truediv"},
                                                     {FloorDivide, "floordiv"},
                                                     {Modulo, "mod"},
                                                     {Negative, "neg"},
                                                     {Power, "pow"},
                                                     {Choose, "choose"},
                                                     {Max, "max"},
                                                     {Min, "min"},
                                                     {Absolute, "abs"},
                                                     {Floor, "floor"},
                                                     {Ceil, "ceil"},
                                                     {Truncate, "int"},
                                                     {Round, "round"},
                                                     {RoundDecimal, "round_decimal"},
                                                     {Real, "float"},
                                                     {SquareRoot, "sqrt"},
                                                     {Log2, "log2"}});
}

using SizeNumber = std::variant<std::int64_t, double>;

struct SizeExpression {
    std::variant<std::int64_t, double, SizePlace, SizeOperator> what;
    std::vector<SizeExpression> operands;  // of an operator, as many as it takes; at least two of Max and Min

    [[nodiscard]] const SizePlace* place() const { return std::get_if<SizePlace>(&what); }
    [[nodiscard]] const SizeOperator* op() const { return std::get_if<SizeOperator>(&what); }
};

using SizeAt = std::function<std::optional<std::int64_t>(const SizePlace&)>;

// Evaluates an expression. Returns nullopt if a size is unknown, if Python would raise an exception, or if numbers are
// too large to be computed exactly. Linear in the expression.
std::optional<SizeNumber> evaluate(const SizeExpression& expression, const SizeAt& sizes);
// Returns whether the condition holds; nullopt in the same cases.
std::optional<bool> holds(const SizeExpression& condition, const SizeAt& sizes);

// Returns the sizes in the expression, each once, in order.
std::vector<SizePlace> placesIn(const SizeExpression& expression);
// True if the condition only states that two sizes are equal.
bool isEqualityOfSizes(const SizeExpression& condition);

std::string describe(const SizePlace& place);  // "x.size(0)", "n"
std::string describe(const SizeExpression& expression);

}  // namespace hopscope::loader

#include "loader/size_expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace hopscope::loader {

namespace {

using enum SizeOperator;
using Integer = std::int64_t;
using Result = std::optional<SizeNumber>;

constexpr Integer exactInReal = Integer{1} << 53;

std::optional<double> real(const SizeNumber& number)
{
    if (const double* const given = std::get_if<double>(&number)) return *given;
    const Integer integer = std::get<Integer>(number);
    const bool exact = integer >= -exactInReal && integer <= exactInReal;
    return exact ? std::optional(static_cast<double>(integer)) : std::nullopt;
}

bool truth(const SizeNumber& number)
{
    return std::visit([](auto value) { return value != 0; }, number);
}

Result truthOf(bool condition) { return Integer{condition ? 1 : 0}; }

// ---- of two integers

// Rounded down, as Python does.
Result quotient(Integer a, Integer b)
{
    if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Result remainder(Integer a, Integer b)
{
    if (b == 0) return std::nullopt;
    if (b == -1) return Integer{0};
    const Integer rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Result power(Integer base, Integer exponent)
{
    if (exponent < 0 || exponent > 63) return std::nullopt;
    Integer result = 1;
    for (Integer i = 0; i < exponent; ++i)
        if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
    return result;
}

Result integers(SizeOperator op, Integer a, Integer b)
{
    Integer result = 0;
    switch (op) {
    case Add: return __builtin_add_overflow(a, b, &result) ? Result() : result;
    case Subtract: return __builtin_sub_overflow(a, b, &result) ? Result() : result;
    case Multiply: return __builtin_mul_overflow(a, b, &result) ? Result() : result;
    case FloorDivide: return quotient(a, b);
    case Modulo: return remainder(a, b);
    case Power: return power(a, b);
    case BitOr: return a | b;
    case BitXor: return a ^ b;
    case BitAnd: return a & b;
    default: return std::nullopt;
    }
}

// ---- of two reals

// The sign is that of the divisor, as in Python.
Result remainder(double a, double b)
{
    if (b == 0) return std::nullopt;
    const double rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(0.0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

Result reals(SizeOperator op, double a, double b)
{
    switch (op) {
    case Add: return a + b;
    case Subtract: return a - b;
    case Multiply: return a * b;
    case Divide: return b == 0 ? Result() : a / b;
    case Modulo: return remainder(a, b);
    case Power: return std::isfinite(std::pow(a, b)) ? Result(std::pow(a, b)) : std::nullopt;
    default: return std::nullopt;
    }
}

template <class T>
Result compared(SizeOperator op, T a, T b)
{
    switch (op) {
    case Equal: return truthOf(a == b);
    case NotEqual: return truthOf(a != b);
    case Less: return truthOf(a < b);
    case LessEqual: return truthOf(a <= b);
    case Greater: return truthOf(a > b);
    case GreaterEqual: return truthOf(a >= b);
    default: return std::nullopt;
    }
}

bool isComparison(SizeOperator op) { return op >= Equal && op <= GreaterEqual; }

Result binary(SizeOperator op, const SizeNumber& a, const SizeNumber& b)
{
    const Integer* const i = std::get_if<Integer>(&a);
    const Integer* const j = std::get_if<Integer>(&b);
    if (i != nullptr && j != nullptr && op != Divide)
        return isComparison(op) ? compared(op, *i, *j) : integers(op, *i, *j);
    const auto x = real(a), y = real(b);
    if (!x || !y) return std::nullopt;
    return isComparison(op) ? compared(op, *x, *y) : reals(op, *x, *y);
}

// Python rounds the exact value of the real, as printf does. Only to places behind the point.
Result roundedTo(const SizeNumber& number, const SizeNumber& places)
{
    constexpr Integer most = 22;
    const Integer* const count = std::get_if<Integer>(&places);
    const double* const given = std::get_if<double>(&number);
    if (count == nullptr || *count < 0 || *count > most) return std::nullopt;
    if (given == nullptr) return number;
    std::array<char, 400> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(*count), *given);
    double rounded = 0;
    const auto read = std::from_chars(text.data(), text.data() + length, rounded);
    return read.ec == std::errc() ? Result(rounded) : std::nullopt;
}

// The first of the largest or smallest numbers.
Result extreme(SizeOperator op, const std::vector<SizeNumber>& numbers)
{
    SizeNumber best = numbers.at(0);
    for (const SizeNumber& number : numbers) {
        const Result better = binary(op == Max ? Greater : Less, number, best);
        if (!better) return std::nullopt;
        if (truth(*better)) best = number;
    }
    return best;
}

// ---- of one number

Result whole(double number)
{
    constexpr double beyond = 9.2e18;
    return std::abs(number) < beyond ? Result(static_cast<Integer>(number)) : std::nullopt;
}

Result unary(SizeOperator op, const SizeNumber& a)
{
    const double* const given = std::get_if<double>(&a);
    const auto x = real(a);
    switch (op) {
    case Not: return truthOf(!truth(a));
    case Negative: return given != nullptr ? Result(-*given) : integers(Subtract, 0, std::get<Integer>(a));
    case Absolute:
        return given != nullptr ? Result(std::abs(*given)) : std::get<Integer>(a) < 0 ? unary(Negative, a) : a;
    case Floor: return given != nullptr ? whole(std::floor(*given)) : a;
    case Ceil: return given != nullptr ? whole(std::ceil(*given)) : a;
    case Truncate: return given != nullptr ? whole(std::trunc(*given)) : a;
    case Round: return given != nullptr ? whole(std::nearbyint(*given)) : a;
    case Real: return x ? Result(*x) : std::nullopt;
    case SquareRoot: return x && *x >= 0 ? Result(std::sqrt(*x)) : std::nullopt;
    case Log2: return x && *x > 0 ? Result(std::log2(*x)) : std::nullopt;
    default: return std::nullopt;
    }
}

// ---- operators that need not evaluate all operands

Result lazily(const SizeExpression& expression, const SizeAt& sizes)
{
    const Result first = evaluate(expression.operands.at(0), sizes);
    if (!first) return first;
    switch (*expression.op()) {
    case And: return truth(*first) ? evaluate(expression.operands.at(1), sizes) : first;
    case Or: return truth(*first) ? first : evaluate(expression.operands.at(1), sizes);
    default: return evaluate(expression.operands.at(truth(*first) ? 1 : 2), sizes);
    }
}

// ---- text

struct Sign {
    SizeOperator op;
    const char* text;
    int strength;  // of the binding, as in Python
};

constexpr int weakest = 0, ofNot = 3, ofComparison = 4, strongest = 20;
constexpr auto signs = std::to_array<Sign>({{Choose, "if", weakest},
                                            {Or, " or ", 1},
                                            {And, " and ", 2},
                                            {Not, "not ", ofNot},
                                            {Equal, " == ", ofComparison},
                                            {NotEqual, " != ", ofComparison},
                                            {Less, " < ", ofComparison},
                                            {LessEqual, " <= ", ofComparison},
                                            {Greater, " > ", ofComparison},
                                            {GreaterEqual, " >= ", ofComparison},
                                            {BitOr, " | ", 5},
                                            {BitXor, " ^ ", 6},
                                            {BitAnd, " & ", 7},
                                            {Add, " + ", 8},
                                            {Subtract, " - ", 8},
                                            {Multiply, " * ", 9},
                                            {Divide, " / ", 9},
                                            {FloorDivide, " // ", 9},
                                            {Modulo, " % ", 9},
                                            {Negative, "-", 10},
                                            {Power, " ** ", 11}});

const Sign* signOf(const SizeExpression& expression)
{
    const SizeOperator* const op = expression.op();
    const auto* const found = op == nullptr ? signs.end() : std::ranges::find(signs, *op, &Sign::op);
    return found == signs.end() ? nullptr : found;
}

// In parentheses where it binds less than `needed`.
std::string text(const SizeExpression& expression, int needed)
{
    const Sign* const sign = signOf(expression);
    const std::string plain = describe(expression);
    return sign != nullptr && sign->strength < needed ? "(" + plain + ")" : plain;
}

std::string call(const SizeExpression& expression)
{
    std::string arguments;
    for (const SizeExpression& operand : expression.operands)
        arguments += (arguments.empty() ? "" : ", ") + describe(operand);
    return std::string(base::nameOf(*expression.op())) + "(" + arguments + ")";
}

std::string realText(double number)
{
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

void collect(const SizeExpression& expression, std::vector<SizePlace>& places)
{
    const SizePlace* const place = expression.place();
    if (place != nullptr && std::ranges::find(places, *place) == places.end()) places.push_back(*place);
    for (const SizeExpression& operand : expression.operands) collect(operand, places);
}

}  // namespace

Result evaluate(const SizeExpression& expression, const SizeAt& sizes)
{
    if (const Integer* const integer = std::get_if<Integer>(&expression.what)) return *integer;
    if (const double* const number = std::get_if<double>(&expression.what)) return *number;
    if (const SizePlace* const place = expression.place()) {
        const auto size = sizes(*place);
        return size ? Result(*size) : std::nullopt;
    }
    const SizeOperator op = *expression.op();
    if (op == And || op == Or || op == Choose) return lazily(expression, sizes);
    std::vector<SizeNumber> numbers;
    for (const SizeExpression& operand : expression.operands) {
        const Result number = evaluate(operand, sizes);
        if (!number) return number;
        numbers.push_back(*number);
    }
    if (op == Max || op == Min) return extreme(op, numbers);
    if (op == RoundDecimal) return roundedTo(numbers.at(0), numbers.at(1));
    return numbers.size() == 1 ? unary(op, numbers[0]) : binary(op, numbers.at(0), numbers.at(1));
}

std::optional<bool> holds(const SizeExpression& condition, const SizeAt& sizes)
{
    const Result number = evaluate(condition, sizes);
    return number ? std::optional(truth(*number)) : std::nullopt;
}

std::vector<SizePlace> placesIn(const SizeExpression& expression)
{
    std::vector<SizePlace> places;
    collect(expression, places);
    return places;
}

bool isEqualityOfSizes(const SizeExpression& condition)
{
    return condition.op() != nullptr && *condition.op() == Equal && condition.operands[0].place() != nullptr &&
           condition.operands[1].place() != nullptr;
}

std::string describe(const SizePlace& place)
{
    return place.dim < 0 ? place.argument : place.argument + ".size(" + std::to_string(place.dim) + ")";
}

std::string describe(const SizeExpression& expression)
{
    if (const SizePlace* const place = expression.place()) return describe(*place);
    if (const Integer* const integer = std::get_if<Integer>(&expression.what)) return std::to_string(*integer);
    if (const double* const number = std::get_if<double>(&expression.what)) return realText(*number);
    const Sign* const sign = signOf(expression);
    if (sign == nullptr) return call(expression);
    const auto& operands = expression.operands;
    if (sign->op == Choose)
        return text(operands[1], 1) + " if " + text(operands[0], 1) + " else " + text(operands[2], weakest);
    if (operands.size() == 1) return sign->text + text(operands[0], sign->strength);
    const bool chained = sign->strength == ofComparison, power = sign->op == Power;
    return text(operands[0], sign->strength + (chained || power ? 1 : 0)) + sign->text +
           text(operands[1], sign->strength + (power ? -1 : 1));
}

}  // namespace hopscope::loader

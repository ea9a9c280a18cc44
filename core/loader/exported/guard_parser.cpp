#include "loader/exported/guard_parser.h"

#include <algorithm>
#include <charconv>
#include <span>

namespace hopscope::loader::exported {

namespace {

using enum SizeOperator;
using Parsed = std::optional<SizeExpression>;

// Expressions stay so small that recursion over them does not exhaust the stack.
constexpr std::size_t mostTokens = 4000;
constexpr int deepest = 200;

struct Sign {
    std::string_view text;
    SizeOperator op;
};

struct Level {
    std::span<const Sign> signs;
    bool chains = true;  // false: at most one of the signs
};

constexpr Sign either[] = {{"or", Or}}, both[] = {{"and", And}};
constexpr Sign comparisons[] = {{"==", Equal},        {"!=", NotEqual}, {"<=", LessEqual},
                                {">=", GreaterEqual}, {"<", Less},      {">", Greater}};
constexpr Sign bitOr[] = {{"|", BitOr}}, bitXor[] = {{"^", BitXor}}, bitAnd[] = {{"&", BitAnd}};
constexpr Sign sums[] = {{"+", Add}, {"-", Subtract}};
constexpr Sign products[] = {{"*", Multiply}, {"//", FloorDivide}, {"/", Divide}, {"%", Modulo}};
// The loosest first. "not" stands before the comparisons.
constexpr Level levels[] = {{either}, {both}, {comparisons, false}, {bitOr}, {bitXor}, {bitAnd}, {sums}, {products}};
constexpr std::size_t comparison = 2;

struct Function {
    std::string_view name;
    SizeOperator op;
};
constexpr Function functions[] = {
    {"max", Max},          {"min", Min},           {"abs", Absolute},         {"round", Round},
    {"math.floor", Floor}, {"math.ceil", Ceil},    {"math.trunc", Truncate},  {"math.sqrt", SquareRoot},
    {"int", Truncate},     {"float", Real},        {"torch.sym_float", Real}, {"torch._sym_sqrt", SquareRoot},
    {"math.log2", Log2},   {"torch.sym_max", Max}, {"torch.sym_min", Min}};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

SizeExpression made(SizeOperator op, std::vector<SizeExpression> operands)
{
    return {.what = op, .operands = std::move(operands)};
}

class Parser {
public:
    explicit Parser(std::string_view code) : m_code(code) { next(); }

    Parsed whole()
    {
        Parsed found = expression();
        return m_token.empty() && m_at == m_code.size() ? found : std::nullopt;
    }

private:
    // The next name (with its dots), number, text in quotes or sign; empty at the end and at an unknown character.
    void next();
    [[nodiscard]] std::size_t wordEnd(std::size_t at) const;
    [[nodiscard]] std::size_t numberEnd(std::size_t at) const;
    bool take(std::string_view token)
    {
        if (m_token != token) return false;
        next();
        return true;
    }

    template <class Part>
    Parsed nested(Part part)
    {
        if (m_depth >= deepest) return std::nullopt;
        ++m_depth;
        Parsed found = (this->*part)();
        --m_depth;
        return found;
    }

    Parsed expression();
    Parsed negation();
    Parsed level(std::size_t number);
    Parsed operand(std::size_t number);
    Parsed signedOperand();
    Parsed power();
    Parsed atom();
    Parsed number();
    Parsed call(SizeOperator op);
    Parsed size();
    std::optional<std::string> key();
    std::optional<std::string> keyPart();

    std::string_view m_code, m_token;
    std::size_t m_at = 0, m_tokens = 0;
    int m_depth = 0;
};

std::size_t Parser::wordEnd(std::size_t at) const
{
    while (at < m_code.size() && (isLetter(m_code[at]) || isDigit(m_code[at]) || m_code[at] == '.')) ++at;
    return at;
}

std::size_t Parser::numberEnd(std::size_t at) const
{
    while (at < m_code.size()) {
        const bool exponent = m_code[at] == 'e' && at + 1 < m_code.size();
        const bool sign = exponent && (m_code[at + 1] == '+' || m_code[at + 1] == '-');
        if (!isDigit(m_code[at]) && m_code[at] != '.' && !exponent) break;
        at += sign ? 2 : 1;
    }
    return at;
}

void Parser::next()
{
    static constexpr std::string_view two[] = {"**", "//", "==", "!=", "<=", ">="}, one = "+-*/%<>()[],|&^.";
    while (m_at < m_code.size() && m_code[m_at] == ' ') ++m_at;
    m_token = {};
    if (m_at == m_code.size() || ++m_tokens > mostTokens) return;
    const char first = m_code[m_at];
    std::size_t end = m_at;
    if (isLetter(first)) end = wordEnd(m_at);
    else if (isDigit(first)) end = numberEnd(m_at);
    else if (first == '\'' || first == '"') end = m_code.find(first, m_at + 1) + 1;  // 0 where there is no end
    else if (std::ranges::find(two, m_code.substr(m_at, 2)) != std::end(two)) end = m_at + 2;
    else if (one.find(first) != std::string_view::npos) end = m_at + 1;
    if (end <= m_at) return;
    m_token = m_code.substr(m_at, end - m_at);
    m_at = end;
}

// "A if C else B".
Parsed Parser::expression()
{
    Parsed value = level(0);
    if (!value || !take("if")) return value;
    Parsed condition = level(0);
    if (!condition || !take("else")) return std::nullopt;
    Parsed other = nested(&Parser::expression);
    if (!other) return other;
    return made(Choose, {std::move(*condition), std::move(*value), std::move(*other)});
}

Parsed Parser::level(std::size_t number)
{
    Parsed left = operand(number);
    for (bool again = true; left && again;) {
        const auto& signs = levels[number].signs;
        const auto sign = std::ranges::find(signs, m_token, &Sign::text);
        if (sign == signs.end()) break;
        next();
        Parsed right = operand(number);
        if (!right) return right;
        left = made(sign->op, {std::move(*left), std::move(*right)});
        again = levels[number].chains;
    }
    return left;
}

Parsed Parser::operand(std::size_t number)
{
    if (number + 1 == comparison) return negation();
    return number + 1 < std::size(levels) ? level(number + 1) : signedOperand();
}

Parsed Parser::negation()
{
    if (!take("not")) return level(comparison);
    Parsed operand = nested(&Parser::negation);
    return operand ? Parsed(made(Not, {std::move(*operand)})) : operand;
}

Parsed Parser::signedOperand()
{
    if (!take("-")) return power();
    Parsed operand = nested(&Parser::signedOperand);
    return operand ? Parsed(made(Negative, {std::move(*operand)})) : operand;
}

Parsed Parser::power()
{
    Parsed base = atom();
    if (!base || !take("**")) return base;
    Parsed exponent = nested(&Parser::signedOperand);
    return exponent ? Parsed(made(Power, {std::move(*base), std::move(*exponent)})) : exponent;
}

Parsed Parser::atom()
{
    if (m_token.empty()) return std::nullopt;
    if (isDigit(m_token[0])) return number();
    if (take("L")) return size();
    if (take("(")) {
        Parsed found = nested(&Parser::expression);
        return take(")") ? found : std::nullopt;
    }
    const auto* const function = std::ranges::find(functions, m_token, &Function::name);
    if (function == std::end(functions)) return std::nullopt;
    next();
    return call(function->op);
}

Parsed Parser::number()
{
    const char *const begin = m_token.data(), *const end = begin + m_token.size();
    std::int64_t integer = 0;
    double real = 0;
    Parsed found;
    if (const auto read = std::from_chars(begin, end, integer); read.ec == std::errc() && read.ptr == end)
        found = SizeExpression{.what = integer, .operands = {}};
    else if (m_token.find_first_of(".e") == std::string_view::npos) return std::nullopt;
    else if (const auto fraction = std::from_chars(begin, end, real); fraction.ec == std::errc() && fraction.ptr == end)
        found = SizeExpression{.what = real, .operands = {}};
    next();
    return found;
}

Parsed Parser::call(SizeOperator op)
{
    std::vector<SizeExpression> operands;
    if (!take("(")) return std::nullopt;
    do {
        Parsed operand = nested(&Parser::expression);
        if (!operand) return operand;
        operands.push_back(std::move(*operand));
    } while (take(","));
    const bool several = op == Max || op == Min, decimal = op == Round && operands.size() == 2;
    if (!take(")") || (several ? operands.size() < 2 : operands.size() != 1 && !decimal)) return std::nullopt;
    return made(decimal ? RoundDecimal : op, std::move(operands));
}

// The part after L: ['x']['user'].size()[0]. Without ".size()" it is a number among the arguments.
Parsed Parser::size()
{
    SizePlace place;
    while (take("[")) {
        const auto part = key();
        if (!part || !take("]")) return std::nullopt;
        place.argument += (place.argument.empty() ? "" : ".") + *part;
    }
    if (place.argument.empty()) return std::nullopt;
    if (take(".")) {
        const bool sized = take("size") && take("(") && take(")") && take("[");
        const Parsed dim = sized && !m_token.empty() && isDigit(m_token[0]) ? number() : std::nullopt;
        const auto* const index = dim ? std::get_if<std::int64_t>(&dim->what) : nullptr;
        if (index == nullptr || *index > 1000 || !take("]")) return std::nullopt;
        place.dim = static_cast<int>(*index);
    }
    return SizeExpression{.what = std::move(place), .operands = {}};
}

// The key of an argument as a part of its name; ('user', 'to', 'item') is user__to__item.
std::optional<std::string> Parser::key()
{
    if (!take("(")) return keyPart();
    std::string joined;
    do {
        const auto part = keyPart();
        if (!part) return part;
        joined += (joined.empty() ? "" : "__") + *part;
    } while (take(","));
    return take(")") ? std::optional(joined) : std::nullopt;
}

std::optional<std::string> Parser::keyPart()
{
    if (m_token.empty()) return std::nullopt;
    const bool quoted = m_token[0] == '\'' || m_token[0] == '"';
    const bool plain = m_token.find('\\') == std::string_view::npos && (quoted || isDigit(m_token[0]));
    if (!plain) return std::nullopt;
    const std::string part(quoted ? m_token.substr(1, m_token.size() - 2) : m_token);
    next();
    return part;
}

}  // namespace

std::optional<SizeExpression> parseGuard(std::string_view code) { return Parser(code).whole(); }

}  // namespace hopscope::loader::exported

#include "loader/exported/limits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <regex>

#include "loader/exported/weights.h"
#include "loader/tensors.h"

namespace hopscope::loader::exported {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
// PyTorch assumes of each dynamic size that it is neither 0 nor 1, and writes that as a range. Programs compute the same for 1.
constexpr std::int64_t leastOfAnySize = 2;

constexpr std::string_view either = " or ";

// "Symbol('s77', positive=True, integer=True)" is "s77"; empty for other expressions.
std::string symbolIn(const std::string& expression)
{
    static const std::regex symbol(R"(^Symbol\('(\w+)'[^()]*\)$)");
    std::smatch found;
    return expression.size() < 200 && std::regex_match(expression, found, symbol) ? found[1].str() : expression;
}

// "L['x_dict']['user'].size()[0]" is dimension 0 of "x_dict.user".
std::optional<SizePlace> placeIn(const std::string& text)
{
    static const std::regex place(R"(^L((?:\['?[^'\]]+'?\])+)\.size\(\)\[(\d{1,3})\]$)");
    static const std::regex key(R"(\['?([^'\]]+)'?\])");
    std::smatch found;
    if (!std::regex_match(text, found, place)) return std::nullopt;
    SizePlace result{.argument = {}, .dim = std::stoi(found[2].str())};
    const std::string keys = found[1].str();
    for (std::sregex_iterator it(keys.begin(), keys.end(), key), end; it != end; ++it)
        result.argument += (result.argument.empty() ? "" : ".") + (*it)[1].str();
    return result;
}

std::optional<std::int64_t> numberIn(const std::string& text)
{
    const bool digits = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::optional(std::int64_t{std::stoll(text)}) : std::nullopt;
}

const char* turned(const std::string& comparison)
{
    if (comparison == "<=") return ">=";
    if (comparison == ">=") return "<=";
    if (comparison == "<") return ">";
    return comparison == ">" ? "<" : "==";
}

std::optional<SizeLimit> limitOf(const SizePlace& place, const std::string& comparison, std::int64_t number)
{
    SizeLimit limit{.place = place, .least = 0, .most = unlimited, .same = {}};
    if (comparison == "==" || comparison == ">=") limit.least = number;
    if (comparison == ">") limit.least = number + 1;
    if (comparison == "==" || comparison == "<=") limit.most = number;
    if (comparison == "<") limit.most = number - 1;
    return limit;
}

// "L['x'].size()[0] <= 1000", in either order, or the equality of two sizes.
std::optional<SizeLimit> limitIn(const std::string& guard)
{
    static const std::regex comparison(R"(^(\S+) (==|<=|>=|<|>) (\S+)$)");
    std::smatch found;
    if (guard.size() > 500 || !std::regex_match(guard, found, comparison)) return std::nullopt;
    const auto left = placeIn(found[1]), right = placeIn(found[3]);
    const auto smaller = numberIn(found[1]), larger = numberIn(found[3]);
    if (left && larger) return limitOf(*left, found[2], *larger);
    if (smaller && right) return limitOf(*right, turned(found[2]), *smaller);
    if (!left || !right || found[2] != "==") return std::nullopt;
    return SizeLimit{.place = *left, .least = 0, .most = unlimited, .same = *right};
}

}  // namespace

Limits::Limits(const json::Reader& program) : m_program(program)
{
    for (auto& [name, tensor] : members(child(child(child(program, "graph_module"), "graph"), "tensor_values")))
        m_tensors.emplace(name, tensor);
    for (auto& [name, range] : members(child(program, "range_constraints"))) m_ranges.emplace(name, range);
}

void Limits::addInput(const std::string& value, const std::string& argument)
{
    const auto tensor = m_tensors.find(value);
    if (tensor == m_tensors.end())
        refuse(base::ErrorCode::Input, "the input '" + argument + "' has no type", "save the program again");
    if (const auto type = dtypeOf(scalarTypeOf(child(tensor->second, "dtype")))) m_limits.types[argument] = *type;
    const std::vector<json::Reader> sizes = items(tensor->second, "sizes");
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) addSize(sizes[dim], {argument, static_cast<int>(dim)});
}

void Limits::addSize(const json::Reader& size, const SizePlace& place)
{
    const Union given = unionOf(size);
    if (given.kind == "as_int") {
        const auto fixed = given.value.as<std::int64_t>();
        check(given.value);
        m_limits.sizes.push_back({.place = place, .least = fixed, .most = fixed, .same = {}});
        return;
    }
    const auto range = m_ranges.find(symbolIn(text(given.value, "expr_str")));
    if (range == m_ranges.end()) return;
    const std::int64_t least = range->second.maybe<std::int64_t>("min_val").value_or(0);
    const std::int64_t most = range->second.maybe<std::int64_t>("max_val").value_or(unlimited);
    check(range->second);
    if (least > leastOfAnySize || most < unlimited - 1)
        m_limits.sizes.push_back(
            {.place = place, .least = least > leastOfAnySize ? least : 0, .most = most, .same = {}});
}

void Limits::addConstant(const std::string& argument, std::int64_t number)
{
    m_limits.sizes.push_back({.place = {argument, -1}, .least = number, .most = number, .same = {}});
}

ModelLimits Limits::finish()
{
    std::vector<std::string> alternatives;
    if (m_program.has("guards_code"))
        for (const json::Reader& guard : items(m_program, "guards_code")) {
            const auto code = guard.as<std::string>();
            check(guard);
            if (code.find(either) != std::string::npos) alternatives.push_back(code);
            else addGuard(code);
        }
    for (const std::string& guard : alternatives)
        if (!follows(guard)) m_limits.unchecked.push_back(guard);
    return std::move(m_limits);
}

// Whether one of the alternatives is a guard of its own.
bool Limits::follows(const std::string& guard) const
{
    for (std::size_t begin = 0; begin < guard.size();) {
        const std::size_t end = std::min(guard.find(either, begin), guard.size());
        const auto limit = limitIn(guard.substr(begin, end - begin));
        const auto known = [&](const SizeLimit& other) {
            return limit && limit->same && other.same &&
                   ((limit->place == other.place && *limit->same == *other.same) ||
                    (limit->place == *other.same && *limit->same == other.place));
        };
        if (std::ranges::any_of(m_limits.sizes, known)) return true;
        begin = end + either.size();
    }
    return false;
}

void Limits::addGuard(const std::string& guard)
{
    auto limit = limitIn(guard);
    if (!limit) return m_limits.unchecked.push_back(guard);
    if (limit->least <= leastOfAnySize && limit->most != limit->least) limit->least = 0;
    if (limit->least > 0 || limit->most < unlimited || limit->same) m_limits.sizes.push_back(std::move(*limit));
}

}  // namespace hopscope::loader::exported

#include "loader/exported/limits.h"

#include <algorithm>
#include <limits>
#include <regex>

#include "loader/exported/guard_parser.h"
#include "loader/exported/weights.h"
#include "loader/tensors.h"

namespace hopscope::loader::exported {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
// PyTorch assumes of each dynamic size that it is neither 0 nor 1, and writes that as a range. Programs compute the same for 1.
constexpr std::int64_t leastOfAnySize = 2;

// "Symbol('s77', positive=True, integer=True)" is "s77"; empty for other expressions.
std::string symbolIn(const std::string& expression)
{
    static const std::regex symbol(R"(^Symbol\('(\w+)'[^()]*\)$)");
    std::smatch found;
    return expression.size() < 200 && std::regex_match(expression, found, symbol) ? found[1].str() : expression;
}

// A comparison of one size with a number that no size from 2 breaks.
bool holdsForAnySize(const SizeExpression& condition)
{
    const auto& operands = condition.operands;
    if (operands.size() != 2 || (operands[0].place() == nullptr) == (operands[1].place() == nullptr)) return false;
    const SizeExpression& other = operands[operands[0].place() != nullptr ? 1 : 0];
    const auto* const number = std::get_if<std::int64_t>(&other.what);
    const auto with = [&](std::int64_t size) {
        return holds(condition, [size](const SizePlace&) { return size; }) == true;
    };
    return number != nullptr && *number <= leastOfAnySize && with(leastOfAnySize) && with(unlimited);
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
    m_limits.ranks[argument] = sizes.size();
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) addSize(sizes[dim], {argument, static_cast<int>(dim)});
}

void Limits::addSize(const json::Reader& size, const SizePlace& place)
{
    const Union given = unionOf(size);
    if (given.kind == "as_int") {
        const auto fixed = given.value.as<std::int64_t>();
        check(given.value);
        m_limits.sizes.push_back({.place = place, .least = fixed, .most = fixed});
        return;
    }
    const auto range = m_ranges.find(symbolIn(text(given.value, "expr_str")));
    if (range == m_ranges.end()) return;
    const std::int64_t least = range->second.maybe<std::int64_t>("min_val").value_or(0);
    const std::int64_t most = range->second.maybe<std::int64_t>("max_val").value_or(unlimited);
    check(range->second);
    if (least > leastOfAnySize || most < unlimited - 1)
        m_limits.sizes.push_back({.place = place, .least = least > leastOfAnySize ? least : 0, .most = most});
}

void Limits::addConstant(const std::string& argument, std::int64_t number)
{
    m_limits.sizes.push_back({.place = {argument, -1}, .least = number, .most = number});
}

ModelLimits Limits::finish(const std::vector<std::string>& arguments)
{
    if (m_program.has("guards_code"))
        for (const json::Reader& guard : items(m_program, "guards_code")) {
            const auto code = guard.as<std::string>();
            check(guard);
            addGuard(code, arguments);
        }
    return std::move(m_limits);
}

// A guard can be repeated.
void Limits::addGuard(const std::string& code, const std::vector<std::string>& arguments)
{
    SizeGuard guard{.condition = parseGuard(code), .text = code};
    if (guard.condition && !nameSizes(*guard.condition, arguments)) guard.condition.reset();
    if (guard.condition) guard.text = describe(*guard.condition);
    if (guard.condition && holdsForAnySize(*guard.condition)) return;
    if (std::ranges::find(m_limits.guards, guard.text, &SizeGuard::text) == m_limits.guards.end())
        m_limits.guards.push_back(std::move(guard));
}

// Gives all sizes the names of the data; false if one is of none of the inputs. With strict=True, torch.export numbers them.
bool Limits::nameSizes(SizeExpression& expression, const std::vector<std::string>& arguments) const
{
    static constexpr std::string_view numbered = "flat_args.";
    for (SizeExpression& operand : expression.operands)
        if (!nameSizes(operand, arguments)) return false;
    auto* const place = std::get_if<SizePlace>(&expression.what);
    if (place == nullptr) return true;
    for (std::size_t i = 0; i < arguments.size() && place->argument.starts_with(numbered); ++i)
        if (place->argument.substr(numbered.size()) == std::to_string(i)) place->argument = arguments[i];
    const auto rank = m_limits.ranks.find(place->argument);
    if (rank != m_limits.ranks.end()) return place->dim >= 0 && static_cast<std::size_t>(place->dim) < rank->second;
    return place->dim < 0 && std::ranges::find(arguments, place->argument) != arguments.end();
}

}  // namespace hopscope::loader::exported

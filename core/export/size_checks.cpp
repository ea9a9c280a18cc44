#include "export/size_checks.h"

#include <algorithm>
#include <limits>

#include "executor/failure.h"

namespace hopscope::exporter {

using loader::SizeExpression;
using loader::SizeOperator;

namespace {

SizeExpression comparison(const loader::SizePlace& place, SizeOperator op, std::int64_t number)
{
    return {.what = op, .operands = {{.what = place, .operands = {}}, {.what = number, .operands = {}}}};
}

// Of more than two numbers, such as max(a, b, c).
NumberText folded(const std::string& name, const std::vector<NumberText>& operands)
{
    NumberText result = operands.at(0);
    for (std::size_t i = 1; i < operands.size(); ++i) result = computed(name, {result, operands[i]});
    return result;
}

}  // namespace

std::vector<SizeExpression> sizeConditions(const loader::ModelLimits& limits, const std::vector<ir::NamedValue>& inputs)
{
    std::vector<SizeExpression> conditions;
    for (const loader::SizeLimit& limit : limits.sizes) {
        if (std::ranges::find(inputs, limit.place.argument, &ir::NamedValue::name) == inputs.end()) continue;
        const bool fixed = limit.least == limit.most;
        if (fixed) conditions.push_back(comparison(limit.place, SizeOperator::Equal, limit.least));
        if (!fixed && limit.least > 0)
            conditions.push_back(comparison(limit.place, SizeOperator::GreaterEqual, limit.least));
        if (!fixed && limit.most < std::numeric_limits<std::int64_t>::max())
            conditions.push_back(comparison(limit.place, SizeOperator::LessEqual, limit.most));
    }
    for (const loader::SizeGuard& guard : limits.guards) {
        if (!guard.condition)
            executor::raise(base::ErrorCode::Unsupported, "export cannot write the condition " + guard.text);
        conditions.push_back(*guard.condition);
    }
    return conditions;
}

NumberText sizeText(const SizeExpression& expression, const PlaceText& place)
{
    if (const auto* const integer = std::get_if<std::int64_t>(&expression.what)) return integerText(*integer);
    if (const auto* const real = std::get_if<double>(&expression.what)) return realNumberText(*real);
    if (expression.place() != nullptr) return place(*expression.place());
    std::vector<NumberText> operands;
    for (const SizeExpression& operand : expression.operands) operands.push_back(sizeText(operand, place));
    const std::string name = base::nameOf(*expression.op());
    return operands.size() > 2 ? folded(name, operands) : computed(name, operands);
}

}  // namespace hopscope::exporter

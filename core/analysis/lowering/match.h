#pragma once

// Private to analysis: predicates on programs, for passes that match patterns.

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "operators/operators.h"

namespace hopscope::analysis {

inline const ir::Op* producerOf(const ir::Program& program, ir::ValueId v)
{
    const ir::Value& value = program.value(v);
    return value.origin == ir::Origin::Op ? &program.op(value.producer) : nullptr;
}

inline std::optional<ir::ValueId> valueOf(const ir::Op& op, const std::string& name)
{
    const ir::Arg* arg = ir::argument(op, name);
    return arg && arg->value() ? std::optional(*arg->value()) : std::nullopt;
}

// Returns the sizes passed to a reshape; null for other operators.
inline const ir::Arg* sizesOf(const ir::Op& op) { return ir::argument(op, {"shape", "size"}); }

// True if the argument is this number; `otherwise` if it is left out.
inline bool isNumber(const ir::Op& op, const std::string& name, std::int64_t number, bool otherwise = false)
{
    const ir::Arg* arg = ir::argument(op, name);
    if (!arg || arg->none()) return otherwise;
    return arg->integer() && *arg->integer() == number;
}

inline bool isFlag(const ir::Op& op, const std::string& name, bool flag, bool otherwise = false)
{
    const ir::Arg* arg = ir::argument(op, name);
    if (!arg || arg->none()) return otherwise;
    const bool* b = std::get_if<bool>(&arg->data);
    return b ? *b == flag : isNumber(op, name, flag ? 1 : 0);
}

// True if each element of the result only depends on the operands' elements at the same position. (The weights of prelu
// lie along the second dimension.)
inline bool isElementwise(const ir::Program& program, const ir::Op& op)
{
    if (operators::of(op.name).rule != operators::Rule::Pointwise) return false;
    const auto weight = op.name == "aten::prelu" ? valueOf(op, "weight") : std::nullopt;
    return !weight || program.value(*weight).shape.empty() || program.value(*weight).shape[0] == 1;
}

// True if the model leaves all other arguments at their defaults.
inline bool onlyGives(const ir::Op& op, std::initializer_list<std::string_view> arguments)
{
    return std::ranges::all_of(op.argInfo, [&](const ir::ArgInfo& argument) {
        return !argument.given || std::ranges::find(arguments, argument.name) != arguments.end();
    });
}

}  // namespace hopscope::analysis

#include "operators/operators.h"

#include <algorithm>

namespace hopscope::operators {

namespace {

constexpr std::string_view aten = "aten::";

bool hasNamespace(std::string_view name) { return name.find("::") != name.npos; }

// True if in-place twins of the operator change only numbers.
bool writesNumbers(const Operator& op)
{
    return op.traits.aliasing == Aliasing::Fresh || op.traits.aliasing == Aliasing::Same;
}

}  // namespace

const Operator* find(std::string_view name)
{
    if (!hasNamespace(name)) return nullptr;
    if (name.starts_with(aten)) name.remove_prefix(aten.size());
    const auto lines = table();
    const auto it = std::ranges::lower_bound(lines, name, {}, &Operator::name);
    return it == lines.end() || it->name != name ? nullptr : &*it;
}

const Operator& of(std::string_view name)
{
    static const Operator unknown;
    const Operator* found = find(name);
    return found ? *found : unknown;
}

std::string fullName(const Operator& op)
{
    return hasNamespace(op.name) ? std::string(op.name) : std::string(aten) + std::string(op.name);
}

std::string plainName(std::string_view name)
{
    constexpr std::string_view operatorPrefix = "aten::__i";
    if (name.starts_with(operatorPrefix) && name.ends_with("__"))
        return "aten::__" + std::string(name.substr(operatorPrefix.size()));
    return name.ends_with("_") ? std::string(name.substr(0, name.size() - 1)) : std::string();
}

bool known(std::string_view name)
{
    if (find(name)) return true;
    const Operator* plain = find(plainName(name));
    return plain && writesNumbers(*plain);
}

bool isView(const Operator& op)
{
    const Aliasing a = op.traits.aliasing;
    return a == Aliasing::View || a == Aliasing::ViewIfDense || a == Aliasing::Same;
}

bool isView(std::string_view name) { return isView(of(name)); }

bool reshapes(std::string_view name)
{
    const Rule rule = of(name).rule;
    return rule == Rule::Reshape || rule == Rule::Unsqueeze;
}

bool expands(std::string_view name) { return of(name).rule == Rule::Expand; }

bool isFill(std::string_view name) { return of(name).traits.fill != Fill::None; }

bool isShapeOnly(std::string_view name, std::string_view argument)
{
    if (argument == "other") return of(name).traits.otherForShape;
    return argument == "self" && isFill(name);
}

}  // namespace hopscope::operators

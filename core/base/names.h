#pragma once

// Maps enums to their names in documents, requests and options. Each enum has one table, which is used for both writing
// and reading. It is declared in the namespace of the enum and found by argument-dependent lookup:
//     constexpr auto namesOf(Verdict) { return std::to_array<base::Named<Verdict>>({{Verdict::Equal, "equal"}, ..}); }

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hopscope::base {

template <class E>
struct Named {
    E value;
    const char* name;
};

// Returns the name of a value, or "" if the table lacks it. Linear in the table, like all functions below.
template <class E>
constexpr const char* nameOf(E value)
{
    for (const Named<E>& each : namesOf(value))
        if (each.value == value) return each.name;
    return "";
}

template <class E>
constexpr std::optional<E> fromName(std::string_view name)
{
    for (const Named<E>& each : namesOf(E{}))
        if (each.name == name) return each.value;
    return std::nullopt;
}

// Lists the names, for example "optimal, local-search, depth or source-rule".
template <class E>
std::string listNames()
{
    constexpr auto table = namesOf(E{});
    std::string text;
    for (std::size_t i = 0; i < table.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 == table.size() ? " or " : ", ") + table[i].name;
    return text;
}

// Parses an option as the user wrote it. Fails with Usage, for example "unknown strategy 'x'", with the known names as
// the hint.
template <class E>
Result<E> parseName(const std::string& name, const std::string& what)
{
    if (const std::optional<E> found = fromName<E>(name)) return *found;
    return fail(ErrorCode::Usage, "unknown " + what + " '" + name + "'", "use " + listNames<E>());
}

}  // namespace hopscope::base

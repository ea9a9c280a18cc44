#pragma once

// Enums and their names in documents, requests and options: one table per enum, used for writing and reading. The table
// is declared next to the enum and is found by its argument:
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

// Linear in the table, like all functions below. "" for a value that the table lacks.
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

// "optimal, local-search, depth or source-rule".
template <class E>
std::string listNames()
{
    constexpr auto table = namesOf(E{});
    std::string text;
    for (std::size_t i = 0; i < table.size(); ++i)
        text += std::string(i == 0 ? "" : i + 1 == table.size() ? " or " : ", ") + table[i].name;
    return text;
}

// An option as the user wrote it. Fails with Usage: "unknown strategy 'x'", with the known names as the hint.
template <class E>
Result<E> parseName(const std::string& name, const std::string& what)
{
    if (const std::optional<E> found = fromName<E>(name)) return *found;
    return fail(ErrorCode::Usage, "unknown " + what + " '" + name + "'", "use " + listNames<E>());
}

}  // namespace hopscope::base

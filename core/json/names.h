#pragma once

// Reads enums from documents, by the names of base/names.h.

#include <string>

#include "base/names.h"
#include "json/reader.h"

namespace hopscope::json {

// Reads an enum. Refuses a name that is not in the table: "is 'x', which is not known: expected a, b or c".
template <class E>
E named(const Reader& reader)
{
    const auto name = reader.as<std::string>();
    const std::optional<E> found = base::fromName<E>(name);
    if (!found && reader.ok()) reader.refuse("is '" + name + "', which is not known: expected " + base::listNames<E>());
    return found.value_or(E{});
}

template <class E>
E named(const Reader& reader, std::string_view key)
{
    return named<E>(reader.child(key));
}

}  // namespace hopscope::json

#pragma once

// Writes and reads members that may be null.

#include <optional>
#include <string>

#include "json/reader.h"

namespace hopscope::json {

template <class T>
Value orNull(const std::optional<T>& value)
{
    return value ? Value(*value) : Value();
}

// Reads a member that must be present and may be null.
template <class T>
std::optional<T> nullable(const Reader& reader, const std::string& key)
{
    const Reader member = reader.child(key);
    if (member.value().isNull()) return std::nullopt;
    return member.as<T>();
}

}  // namespace hopscope::json

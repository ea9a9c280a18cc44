#pragma once

// What every document begins with: "format": "hopscope-plan", "version": "1.0".

#include <map>
#include <optional>
#include <string>

#include "json/json.h"
#include "json/reader.h"

namespace hopscope::schema {

// An object with format and version filled in.
json::Value startDocument(const std::string& format);

// Refuses another format or another major version.
void checkEnvelope(const json::Reader& root, const std::string& format);

// The document's "hashes": an object of strings.
std::map<std::string, std::string> readHashes(const json::Reader& root);
json::Value writeHashes(const std::map<std::string, std::string>& hashes);

// A value, or null where there is none.
template <class T>
json::Value orNull(const std::optional<T>& value)
{
    return value ? json::Value(*value) : json::Value();
}

// A member that must be there and may be null.
template <class T>
std::optional<T> nullable(const json::Reader& reader, const std::string& key)
{
    const json::Reader member = reader.child(key);
    if (member.value().isNull()) return std::nullopt;
    return member.as<T>();
}

}  // namespace hopscope::schema

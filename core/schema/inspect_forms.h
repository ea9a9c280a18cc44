#pragma once

// Private to schema: members of `inspect` that are of several types.

#include "schema/inspect_document.h"
#include "json/described.h"

namespace hopscope::json {

// Any value.
template <>
struct Form<Value> {
    static Value write(const Value& value) { return value; }
    static Value read(const Reader& reader) { return reader.value(); }
    static Value schema()
    {
        Value any = Value::object();
        for (const char* const type : {"null", "boolean", "number", "string", "array"}) any["type"].push(type);
        return any;
    }
};

template <>
struct Form<schema::Dimension> {
    static Value write(const schema::Dimension& dimension)
    {
        if (const auto* const number = std::get_if<std::int64_t>(&dimension.size)) return Value(*number);
        const auto* const text = std::get_if<std::string>(&dimension.size);
        return text == nullptr ? Value() : Value(*text);
    }
    static schema::Dimension read(const Reader& reader)
    {
        if (reader.value().isNull()) return {};
        if (reader.value().asInt() != nullptr) return {*reader.value().asInt()};
        return {reader.as<std::string>()};
    }
    static Value schema()
    {
        Value any = Value::object();
        for (const char* const type : {"null", "integer", "string"}) any["type"].push(type);
        return any;
    }
};

}  // namespace hopscope::json

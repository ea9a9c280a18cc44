#pragma once

// Private to schema: the JSON forms of members of `inspect` that can have several types.

#include "schema/inspect_document.h"
#include "json/described.h"

namespace hopscope::json {

// Any JSON value.
template <>
struct Form<Value> {
    static Value write(const Value& value) { return value; }
    static Value read(const Reader& reader) { return reader.value(); }
    static Value schema()
    {
        Value any = Value::object();
        for (const char* const type : {"boolean", "number", "string", "array", "null"}) any["type"].push(type);
        return any;
    }
};

}  // namespace hopscope::json

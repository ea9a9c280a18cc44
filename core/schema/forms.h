#pragma once

// Private to schema, protocol and pipeline: the JSON forms of ids in documents.

#include "schema/findings.h"
#include "schema/names.h"
#include "schema/stages.h"
#include "json/described.h"

namespace hopscope::json {

inline Value textLike(const char* pattern)
{
    Value schema = typed("string");
    schema["pattern"] = pattern;
    return schema;
}

template <>
struct Form<plan::StageId> {
    static Value write(plan::StageId stage) { return stage.number; }
    static plan::StageId read(const Reader& reader) { return schema::readStage(reader); }
    static Value schema()
    {
        Value number = typed("integer");
        number["minimum"] = 1;
        return number;
    }
};

// A string such as "op12".
template <>
struct Form<ir::OpId> {
    static Value write(ir::OpId op) { return ir::opName(op); }
    static ir::OpId read(const Reader& reader) { return schema::readOp(reader); }
    static Value schema() { return textLike("^op(0|[1-9][0-9]*)$"); }
};

template <>
struct Form<schema::OpOrNone> {
    static Value write(schema::OpOrNone op) { return op.valid() ? ir::opName(op) : std::string(); }
    static schema::OpOrNone read(const Reader& reader)
    {
        return reader.as<std::string>().empty() ? schema::OpOrNone() : schema::readOp(reader);
    }
    static Value schema() { return textLike("^(op(0|[1-9][0-9]*))?$"); }
};

// A string such as "v5".
template <>
struct Form<ir::ValueId> {
    static Value write(ir::ValueId value) { return ir::valueName(value); }
    static ir::ValueId read(const Reader& reader) { return schema::readValue(reader); }
    static Value schema() { return textLike("^v(0|[1-9][0-9]*)$"); }
};

// A number, or a string such as "|node|".
template <>
struct Form<schema::Dim> {
    static Value write(const schema::Dim& size)
    {
        return std::visit([](const auto& of) { return Value(of); }, size);
    }
    static schema::Dim read(const Reader& reader)
    {
        if (const std::int64_t* const number = reader.value().asInt()) return *number;
        return reader.as<std::string>();
    }
    static Value schema()
    {
        Value either = textLike("^\\|.+\\|$");
        either["type"] = Value(Array{"integer", "string"});
        either["minimum"] = 0;
        return either;
    }
};

}  // namespace hopscope::json

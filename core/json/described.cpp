#include "json/described.h"

namespace hopscope::json {

namespace {

constexpr base::Within any;

// For a list, the schema of its items.
Value& innermost(Value& schema) { return schema.find("items") == nullptr ? schema : innermost(schema["items"]); }

}  // namespace

void checkWithin(const Reader& reader, std::int64_t number, const base::Within& within)
{
    if (number >= within.least && number <= within.most) return;
    const std::string least = std::to_string(within.least);
    reader.refuse(within.most == any.most ? "must be at least " + least
                                          : "must be " + least + " to " + std::to_string(within.most));
}

Value typed(const char* type)
{
    Value schema = Value::object();
    schema["type"] = type;
    return schema;
}

Value orNothing(Value schema)
{
    if (const Value* const type = schema.find("type")) {
        Array types = type->asArray() != nullptr ? *type->asArray() : Array{*type};
        if (types.back() != Value("null")) types.emplace_back("null");
        schema["type"] = std::move(types);
        return schema;
    }
    if (schema.find("enum") != nullptr) {
        schema["enum"].push(nullptr);
        return schema;
    }
    if (schema.find("$ref") == nullptr) return schema;  // null is among its types
    Value either = Value::object();
    either["anyOf"] = Value(Array{std::move(schema), typed("null")});
    return either;
}

Value orNothingWithin(Value schema)
{
    Value& inner = innermost(schema);
    inner = orNothing(std::move(inner));
    return schema;
}

void addMembers(Value& object, const Value& other)
{
    for (const auto& [name, member] : *other.find("properties")->asObject()) object["properties"][name] = member;
    for (const Value& name : *other.find("required")->asArray()) object["required"].push(name);
}

Value describedAs(Value schema, const char* meaning, bool countsUp)
{
    if (*meaning != '\0') schema["description"] = meaning;
    if (countsUp) innermost(schema)["minimum"] = 0;
    return schema;
}

Value boundedBy(Value schema, const base::Within& within)
{
    if (within.least != any.least) schema["minimum"] = within.least;
    if (within.most != any.most) schema["maximum"] = within.most;
    return schema;
}

}  // namespace hopscope::json

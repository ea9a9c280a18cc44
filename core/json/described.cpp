#include "json/described.h"

namespace hopscope::json {

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
    if (schema.find("items") == nullptr) return orNothing(std::move(schema));
    schema["items"] = orNothingWithin(*schema.find("items"));
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
    if (countsUp) schema["minimum"] = 0;
    return schema;
}

}  // namespace hopscope::json

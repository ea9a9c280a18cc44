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
    if (const Value* const names = schema.find("enum")) {
        if (names->asArray()->back() != Value()) schema["enum"].push(nullptr);
        return schema;
    }
    if (schema.find("$ref") == nullptr) return schema;  // null is among its types
    Value either = Value::object();
    either["anyOf"] = Value(Array{std::move(schema), typed("null")});
    return either;
}

void addMember(Value& object, const base::Traits& field, Value ofItsType)
{
    Value& member = object["properties"][field.name] = std::move(ofItsType);
    if (field.presence == base::Presence::Later) member = orNothing(std::move(member));
    Value& inner = innermost(member);
    if (field.null != base::Null::IsNone) inner = orNothing(std::move(inner));
    if (*field.meaning != '\0') member["description"] = field.meaning;
    if (field.quantity != base::Quantity::None) innermost(member)["minimum"] = 0;
    if (field.within.least != any.least) member["minimum"] = field.within.least;
    if (field.within.most != any.most) member["maximum"] = field.within.most;
    if (field.presence == base::Presence::Always) object["required"].push(field.name);
}

void addMembers(Value& object, const Value& other)
{
    for (const auto& [name, member] : *other.find("properties")->asObject()) object["properties"][name] = member;
    for (const Value& name : *other.find("required")->asArray()) object["required"].push(name);
}

}  // namespace hopscope::json

#pragma once

// Private to schema and protocol: the JSON forms of members of plans that are not plain strings.

#include "schema/forms.h"
#include "schema/pins.h"
#include "schema/plan_document.h"

namespace hopscope::json {

template <class Id>
struct Form<schema::NameOf<Id>> {
    static Value write(const schema::NameOf<Id>& name) { return name.text; }
    static schema::NameOf<Id> read(const Reader& reader) { return {reader.as<std::string>()}; }
    static Value schema()
    {
        if constexpr (std::same_as<Id, ir::RowClass>) return textLike("^(ALL|[BF]\\(.+\\)|O\\(.+,.+\\))$");
        else return typed("string");
    }
};

template <>
struct Form<plan::Pin> {
    static Value write(const plan::Pin& pin) { return schema::writePin(pin); }
    static plan::Pin read(const Reader& reader) { return schema::readPin(reader, schema::valueNamed); }
    static Value schema()
    {
        Value pin = typed("array");
        pin["items"]["type"] = Value(Array{"string", "integer"});
        for (const auto& [kind, name] : namesOf(base::PinKind{})) pin["oneOf"].push(partsOf(kind, name));
        return pin;
    }

private:
    static Value partsOf(base::PinKind kind, const char* name)
    {
        Value parts = Value::object(), kindName = Value::object();
        kindName["const"] = name;
        const Value value = Form<ir::ValueId>::schema();
        parts["prefixItems"] = Value(Array{std::move(kindName), value});
        const base::PinThird third = base::thirdOf(kind);
        if (third == base::PinThird::Consumer) parts["prefixItems"].push(value);
        if (third == base::PinThird::Stage) parts["prefixItems"].push(Form<plan::StageId>::schema());
        for (const char* const bound : {"minItems", "maxItems"}) parts[bound] = parts.find("prefixItems")->size();
        return parts;
    }
};

// A list of pins; null is an empty list.
template <>
struct Form<std::vector<plan::Pin>> {
    static Value write(const std::vector<plan::Pin>& pins) { return schema::writePins(pins); }
    static std::vector<plan::Pin> read(const Reader& reader)
    {
        if (reader.value().isNull()) return {};
        return schema::readPins(reader, schema::valueNamed);
    }
    static Value schema()
    {
        Value list = typed("array");
        list["items"] = Form<plan::Pin>::schema();
        return orNothing(std::move(list));
    }
};

template <>
struct Form<schema::CalledNames> {
    static Value write(const schema::CalledNames& names) { return written(names.byId); }
    static schema::CalledNames read(const Reader& reader)
    {
        return {readAs<std::map<std::string, std::string>>(reader)};
    }
    static Value schema()
    {
        Value none = Value::object(), names = schemaOf<std::map<std::string, std::string>>(none);
        names["propertyNames"]["pattern"] = *Form<ir::ValueId>::schema().find("pattern");
        return names;
    }
};

}  // namespace hopscope::json

#pragma once

// Writes described structs (base/describe.h) as JSON, reads them, and makes their JSON Schemas, based on the table of
// fields. Members are booleans, numbers, texts, enums with names, described structs, types with a Form, and
// std::optional, std::vector and std::map<std::string, ..> of these. The header is costly to compile: include it only
// in the one source file of each document, and in those that generate schemas and tables.

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/describe.h"
#include "json/names.h"
#include "json/reader.h"

namespace hopscope::json {

// The form of a type that documents do not represent by its members. It must be visible to all sources that write or
// read the type. Specialisations have
//     static Value write(const T&);  static T read(const Reader&);  static Value schema();
template <class T>
struct Form;

template <class T>
concept HasForm = requires(const T& value)
{
    Form<T>::write(value);
};
template <class T>
concept IsNamed = std::is_enum_v<T> && requires(T value)
{
    namesOf(value);
};

template <class T>
inline constexpr bool isOptional = false;
template <class T>
inline constexpr bool isOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool isList = false;
template <class T>
inline constexpr bool isList<std::vector<T>> = true;
template <class T>
inline constexpr bool isMap = false;
template <class T>
inline constexpr bool isMap<std::map<std::string, T>> = true;

// Returns whether the type would be written even if it had no Form.
template <class T>
consteval bool hasPlainForm()
{
    if constexpr (isOptional<T> || isList<T>) return hasPlainForm<typename T::value_type>();
    else if constexpr (isMap<T>) return hasPlainForm<typename T::mapped_type>();
    else return IsNamed<T> || base::Described<T> || std::is_arithmetic_v<T> || std::same_as<T, std::string>;
}

// ---- writing

template <class T>
Value written(const T& value);
template <base::Described T>
void writeInto(Value& item, const T& value);

template <class M>
void writeEmbedded(Value& item, const M& value)
{
    if constexpr (base::Described<M>) writeInto(item, value);
}

template <class T, class M>
bool isDefault(const base::Field<T, M>& field, const M& member)
{
    if constexpr (std::is_arithmetic_v<M> || std::same_as<M, std::string> ||
                  (HasForm<M> && std::equality_comparable<M>))
        return member == T{}.*field.member;
    else return false;
}

// Writes the members into an object that may have others.
template <base::Described T>
void writeInto(Value& item, const T& value)
{
    base::forEachField<T>([&](const auto& field) {
        if (field.embedded()) return writeEmbedded(item, value.*field.member);
        const bool nothing = field.null == base::Null::IsDefault && isDefault(field, value.*field.member);
        Value member = nothing ? Value() : written(value.*field.member);
        if (field.presence != base::Presence::WhenSet || !member.isNull()) item[field.name] = std::move(member);
    });
}

template <class T>
Value written(const T& value)
{
    if constexpr (HasForm<T>) {
        static_assert(!hasPlainForm<T>(),
                      "a source that does not see the Form would write it without: make it a type of its own");
        return Form<T>::write(value);
    } else if constexpr (isOptional<T>) {
        return value ? written(*value) : Value();
    } else if constexpr (isList<T>) {
        Value list = Value::array();
        for (const auto& each : value) list.push(written(each));
        return list;
    } else if constexpr (isMap<T>) {
        Value object = Value::object();
        for (const auto& [key, each] : value) object[key] = written(each);
        return object;
    } else if constexpr (IsNamed<T>) {
        return base::nameOf(value);
    } else if constexpr (base::Described<T>) {
        Value item = Value::object();
        writeInto(item, value);
        return item;
    } else {
        return Value(value);
    }
}

// ---- reading

template <class T>
T readAs(const Reader& reader);

// Reads a number, or lists of numbers, in which JSON's null stands for `null`.
template <class M>
M numbersAs(const Reader& reader, double null)
{
    if constexpr (isList<M> && !HasForm<M>) {
        M list;
        for (const Reader& each : reader.items()) list.push_back(numbersAs<typename M::value_type>(each, null));
        return list;
    } else if constexpr (std::floating_point<M>) {
        return reader.value().isNull() ? static_cast<M>(null) : reader.as<M>();
    } else {
        return readAs<M>(reader);
    }
}

// Refuses a whole number outside of the range.
void checkWithin(const Reader& reader, std::int64_t number, const base::Within& within);

template <class M>
void checkNumber(const Reader& reader, const M& number, const base::Within& within)
{
    if constexpr (std::integral<M>) checkWithin(reader, static_cast<std::int64_t>(number), within);
    else if constexpr (isOptional<M>)
        if (number) checkNumber(reader, *number, within);
}

template <class T, class M>
void readField(const Reader& item, const base::Field<T, M>& field, T& into)
{
    if (!field.embedded() && field.presence != base::Presence::Always && !item.has(field.name)) return;
    const Reader member = field.embedded() ? item : item.child(field.name);
    using base::Null;
    using Number = std::numeric_limits<double>;
    if (field.null == Null::IsDefault && member.value().isNull()) return;
    if (field.null == Null::IsInfinite || field.null == Null::IsNaN)
        into.*field.member = numbersAs<M>(member, field.null == Null::IsNaN ? Number::quiet_NaN() : Number::infinity());
    else into.*field.member = readAs<M>(member);
    checkNumber(member, into.*field.member, field.within);
}

// Reads a value. The first error stays in the reader. Conditions of a described struct beyond those of its fields, such
// as two lists of equal length, are checked by void checkRead(const T&, const json::Reader&). It is found by
// argument-dependent lookup, and refuses the document if they do not hold.
template <class T>
T readAs(const Reader& reader)
{
    if constexpr (HasForm<T>) {
        return Form<T>::read(reader);
    } else if constexpr (isOptional<T>) {
        return reader.value().isNull() ? T() : T(readAs<typename T::value_type>(reader));
    } else if constexpr (isList<T>) {
        T list;
        for (const Reader& each : reader.items()) list.push_back(readAs<typename T::value_type>(each));
        return list;
    } else if constexpr (isMap<T>) {
        T map;
        for (const auto& [key, each] : reader.members()) map[key] = readAs<typename T::mapped_type>(each);
        return map;
    } else if constexpr (IsNamed<T>) {
        return named<T>(reader);
    } else if constexpr (base::Described<T>) {
        T result;
        base::forEachField<T>([&](const auto& field) { readField(reader, field, result); });
        if constexpr (requires { checkRead(result, reader); })
            if (reader.ok()) checkRead(result, reader);
        return result;
    } else if constexpr (std::unsigned_integral<T> && !std::same_as<T, bool>) {
        return static_cast<T>(reader.as<std::int64_t>());
    } else {
        return reader.as<T>();
    }
}

// ---- values with a Form, and their readers

// Calls visit(value, reader) for each value with a Form in `value`, together with the reader that it was read from.
// `visit` may refuse the document. The values of maps, and members that are missing or null, are not visited.
template <class T, class Visit>
void forEachForm(const T& value, const Reader& reader, const Visit& visit)
{
    if constexpr (HasForm<T>) {
        visit(value, reader);
    } else if constexpr (isOptional<T>) {
        if (value) forEachForm(*value, reader, visit);
    } else if constexpr (isList<T>) {
        const std::vector<Reader> items = reader.items();
        for (std::size_t i = 0; i < items.size(); ++i) forEachForm(value[i], items[i], visit);
    } else if constexpr (base::Described<T>) {
        base::forEachField<T>([&](const auto& field) {
            if (field.embedded()) forEachForm(value.*field.member, reader, visit);
            else if (reader.has(field.name)) forEachForm(value.*field.member, reader.child(field.name), visit);
        });
    }
}

// ---- JSON Schema

Value typed(const char* type);                                              // {"type": type}
Value orNothing(Value schema);                                              // the same schema, and null as well
void addMember(Value& object, const base::Traits& field, Value ofItsType);  // adds a member to an object's schema
void addMembers(Value& object, const Value& other);                         // adds those of another object's schema

// Returns the schema of T. Structs with a name become members of `definitions`, and the schema refers to them.
template <class T>
Value schemaOf(Value& definitions);

template <base::Described T>
Value objectSchema(Value& definitions)
{
    Value schema = typed("object");
    schema["required"] = Value::array();
    schema["properties"] = Value::object();
    base::forEachField<T>([&]<class M>(const base::Field<T, M>& field) {
        if constexpr (base::Described<M>)
            if (field.embedded()) return addMembers(schema, objectSchema<M>(definitions));
        addMember(schema, field, schemaOf<M>(definitions));
    });
    return schema;
}

template <class T>
Value schemaOf(Value& definitions)
{
    if constexpr (HasForm<T>) {
        return Form<T>::schema();
    } else if constexpr (isOptional<T>) {
        return orNothing(schemaOf<typename T::value_type>(definitions));
    } else if constexpr (isList<T>) {
        Value list = typed("array");
        list["items"] = schemaOf<typename T::value_type>(definitions);
        return list;
    } else if constexpr (isMap<T>) {
        Value object = typed("object");
        object["additionalProperties"] = schemaOf<typename T::mapped_type>(definitions);
        return object;
    } else if constexpr (IsNamed<T>) {
        Value one = Value::object();
        for (const auto& each : namesOf(T{})) one["enum"].push(each.name);
        return one;
    } else if constexpr (base::Described<T>) {
        const char* const name = base::describedName<T>;
        if (*name == '\0') return objectSchema<T>(definitions);
        if (definitions.find(name) == nullptr) {
            Value schema = objectSchema<T>(definitions);
            definitions[name] = std::move(schema);
        }
        Value reference = Value::object();
        reference["$ref"] = std::string("#/$defs/") + name;
        return reference;
    } else if constexpr (std::same_as<T, bool>) {
        return typed("boolean");
    } else if constexpr (std::integral<T>) {
        return typed("integer");
    } else if constexpr (std::floating_point<T>) {
        return typed("number");
    } else {
        static_assert(std::same_as<T, std::string>, "describe it, or give it a Form");
        return typed("string");
    }
}

}  // namespace hopscope::json

#include "loader/exported/members.h"

#include <limits>

namespace hopscope::loader::exported {

namespace {

template <class T>
T checked(const json::Reader& reader, T value)
{
    check(reader);
    return value;
}

}  // namespace

void refuse(base::ErrorCode code, const std::string& message, const std::string& hint, const std::string& where)
{
    throw Refusal{base::makeError(code, message, hint, where)};
}

void check(const json::Reader& reader)
{
    if (reader.ok()) return;
    base::Error error = reader.status().error();
    if (error.hint.empty()) error.hint = damagedHint;
    throw Refusal{std::move(error)};
}

json::Reader child(const json::Reader& reader, std::string_view key) { return checked(reader, reader.child(key)); }

std::vector<json::Reader> items(const json::Reader& list) { return checked(list, list.items()); }

std::vector<json::Reader> items(const json::Reader& reader, std::string_view key) { return items(child(reader, key)); }

std::vector<std::pair<std::string, json::Reader>> members(const json::Reader& object)
{
    return checked(object, object.members());
}

std::string text(const json::Reader& reader, std::string_view key)
{
    return checked(reader, reader.get<std::string>(key));
}

std::string textOr(const json::Reader& reader, std::string_view key)
{
    return checked(reader, reader.maybe<std::string>(key).value_or(""));
}

std::int64_t number(const json::Reader& reader, std::string_view key)
{
    return checked(reader, reader.get<std::int64_t>(key));
}

double real(const json::Reader& reader)
{
    using Limits = std::numeric_limits<double>;
    const std::string* const named = reader.value().asString();
    if (named == nullptr) return checked(reader, reader.as<double>());
    if (*named == "Infinity") return Limits::infinity();
    if (*named == "-Infinity") return -Limits::infinity();
    if (*named != "NaN") reader.refuse("is not a number");
    return checked(reader, Limits::quiet_NaN());
}

Union unionOf(const json::Reader& reader)
{
    for (auto& [kind, value] : members(reader))
        if (!value.value().isNull()) return {kind, value};
    reader.refuse("holds no value");
    check(reader);
    return {"", reader};
}

}  // namespace hopscope::loader::exported

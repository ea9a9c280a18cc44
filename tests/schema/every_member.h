#pragma once

// Documents that follow from tables of described structs: their bytes, and what becomes of each member that is missing, null, of
// another kind or there twice, by the schema that is published.
//
// A golden has the bytes that a document had when its members were written one by one. It is kept by hand, and may lack
// members that are newer: those must be optional in the schema, and what else the document has must be the golden's bytes.

#include <doctest/doctest.h>

#include <algorithm>
#include <concepts>
#include <fstream>
#include <iterator>

#include "schema/contract.h"
#include "schema/fixture.h"

namespace described {

using namespace hopscope;

inline std::string golden(const std::string& name)
{
    std::ifstream file(std::string(HOPSCOPE_SCHEMA_DATA "/") + name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline json::Value schemaOf(const std::string& file)
{
    for (schema::Contract& contract : schema::contracts())
        if (contract.file == file) return std::move(contract.schema);
    FAIL("no schema " << file);
    return {};
}

// A schema, asked about places of documents.
class Schema {
public:
    // `part`: of one kind of documents among several.
    explicit Schema(const std::string& file, const std::string& part = "") : m_root(schemaOf(file)), m_part(part) {}
    template <std::same_as<json::Value> Root>
    explicit Schema(Root root) : m_root(std::move(root))
    {}

    bool mayBeNull(const std::string& pointer) const
    {
        const json::Value& at = place(pointer);
        const auto hasNull = [](const json::Value* list) {
            return list && list->asArray() && std::ranges::any_of(*list->asArray(), [](const json::Value& each) {
                       const json::Value* const type = each.find("type");
                       return each.isNull() || each == json::Value("null") || (type && *type == json::Value("null"));
                   });
        };
        return hasNull(at.find("type")) || hasNull(at.find("enum")) || hasNull(at.find("anyOf"));
    }

    bool mayBeMissing(const std::string& pointer) const
    {
        const std::size_t end = pointer.rfind('/');
        const json::Value& parent = resolved(place(pointer.substr(0, end)));
        const json::Value* const required = parent.find("required");
        return !required || std::ranges::find(*required->asArray(), json::Value(pointer.substr(end + 1))) ==
                                required->asArray()->end();
    }

    // Whether a member may have been added to a document that has been published.
    bool mayBeNewer(const std::string& pointer) const
    {
        const std::size_t end = pointer.rfind('/');
        const json::Value* const listed = resolved(place(pointer.substr(0, end))).find("properties");
        return listed && listed->find(pointer.substr(end + 1)) && mayBeMissing(pointer);
    }

private:
    const json::Value& resolved(const json::Value& schema) const
    {
        if (const json::Value* const either = schema.find("anyOf")) return resolved(either->asArray()->front());
        const json::Value* const reference = schema.find("$ref");
        return reference ? resolved(*json::resolve(m_root, reference->asString()->substr(1))) : schema;
    }

    const json::Value& place(const std::string& pointer) const
    {
        const json::Value* at = json::resolve(m_root, m_part);
        for (std::size_t from = 0; from < pointer.size();) {
            const std::size_t end = std::min(pointer.find('/', from + 1), pointer.size());
            const std::string token = pointer.substr(from + 1, end - from - 1);
            const json::Value& schema = resolved(*at);
            if (const json::Value* const items = schema.find("items")) at = items;
            else if (const json::Value* const properties = schema.find("properties")) at = properties->find(token);
            else at = schema.find("additionalProperties");
            REQUIRE_MESSAGE(at, pointer);
            from = end;
        }
        return *at;
    }

    json::Value m_root;
    std::string m_part;
};

// The document without the newer members, which `older` lacks.
inline json::Value published(json::Value document, const json::Value& older, const Schema& schema,
                             const std::string& pointer = "")
{
    if (json::Array* const items = document.asArray(); items && older.asArray())
        for (std::size_t i = 0; i < std::min(items->size(), older.asArray()->size()); ++i)
            (*items)[i] = published((*items)[i], (*older.asArray())[i], schema, pointer + "/" + std::to_string(i));
    if (json::Object* const members = document.asObject(); members && older.asObject()) {
        std::erase_if(*members, [&](const auto& member) {
            return !older.find(member.first) && schema.mayBeNewer(pointer + "/" + member.first);
        });
        for (auto& [name, value] : *members)
            if (const json::Value* const before = older.find(name))
                value = published(value, *before, schema, pointer + "/" + name);
    }
    return document;
}

// `file`: of the golden.
inline void checkBytes(const std::string& text, const std::string& file, const Schema& schema)
{
    const std::string bytes = golden(file);
    const json::Value document = json::parse(text).value();
    CHECK(json::write(document, true) == text);
    CHECK(json::write(published(document, json::parse(bytes).value(), schema), true) == bytes);
}

// The text with the first member of its kind written twice.
inline std::string doubled(const std::string& text, const std::string& pointer)
{
    const json::Value root = json::parse(text).value();
    const std::string key = "\"" + pointer.substr(pointer.rfind('/') + 1) + "\"";
    std::string twice = json::write(root);
    const std::size_t at = twice.find(key + ":");
    return at == std::string::npos ? std::string() : twice.insert(at, key + ":null,");
}

// `read` takes a text, and returns a base::Result.
template <class Read>
void checkEveryMember(const std::string& text, const Schema& schema, Read read)
{
    for (const fixture::Mutation& mutation : fixture::mutations(text)) {
        INFO(mutation.pointer << " " << mutation.what);
        const auto result = read(mutation.text);
        const bool accepted = mutation.what == "missing" && schema.mayBeMissing(mutation.pointer);
        CHECK(result.has_value() == accepted);
        if (!result) CHECK(result.error().where.find(" " + mutation.pointer) != std::string::npos);
        if (mutation.what == "missing") continue;
        INFO("null, or twice");
        CHECK(read(fixture::with(text, mutation.pointer, {})).has_value() == schema.mayBeNull(mutation.pointer));
        if (const std::string twice = doubled(text, mutation.pointer); !twice.empty()) CHECK_FALSE(read(twice));
    }
}

// Of a document whose reader takes a value and a name.
template <class From>
void checkMembers(const std::string& text, const std::string& name, const Schema& schema, From from)
{
    checkEveryMember(text, schema, [&](const std::string& changed) -> base::Status {
        const base::Result<json::Value> document = json::parse(changed);
        if (!document) return base::forward(document);
        const auto read = from(*document, name);
        if (!read) return base::forward(read);
        return {};
    });
}

template <class From>
void checkDocument(const std::string& text, const std::string& name, const Schema& schema, From from)
{
    checkBytes(text, name + ".json", schema);
    checkMembers(text, name, schema, from);
}

}  // namespace described

#pragma once

// Private to protocol: the JSON forms of members of requests and answers that are not plain strings.

#include "base/settings.h"
#include "protocol/method.h"
#include "protocol/tensor_rows.h"
#include "schema/plan_forms.h"

namespace hopscope::base {

// Refuses numbers that are outside the limits of their settings.
void checkRead(const Settings& settings, const json::Reader& reader);

}  // namespace hopscope::base

namespace hopscope::json {

// A string such as "chain,softmax".
template <>
struct Form<base::FuseSetting> {
    static Value write(const base::FuseSetting& fuse) { return base::settingText(fuse); }
    static base::FuseSetting read(const Reader& reader)
    {
        base::Result<std::vector<base::Fuse>> fuse = base::parseFuse(reader.as<std::string>());
        if (!fuse && reader.ok()) reader.refuse("is not valid: " + base::describe(fuse.error()));
        return fuse.value_or(base::allFuse());
    }
    static Value schema() { return typed("string"); }
};

template <>
struct Form<protocol::JsonObject> {
    static Value write(const protocol::JsonObject& object) { return object.value; }
    static protocol::JsonObject read(const Reader& reader)
    {
        (void)reader.members();  // refuses anything but an object
        return {reader.value()};
    }
    static Value schema() { return typed("object"); }
};

// A string in base64.
template <>
struct Form<std::vector<std::byte>> {
    static Value write(const std::vector<std::byte>& bytes) { return protocol::toBase64(bytes); }
    static std::vector<std::byte> read(const Reader& reader)
    {
        std::optional<std::vector<std::byte>> bytes = protocol::fromBase64(reader.as<std::string>());
        if (!bytes) reader.refuse("is not base64");
        return std::move(bytes).value_or(std::vector<std::byte>());
    }
    static Value schema() { return typed("string"); }
};

}  // namespace hopscope::json

#pragma once

// Messages of described structs: each of their members missing, null, of another kind and doubled, by the table of the struct.

#include "schema/every_member.h"
#include "schema/forms.h"
#include "schema/plan_forms.h"

namespace hopscope::test {

// `from` takes the message as a value.
template <base::Described T, class From>
void checkMessage(const std::string& text, From from)
{
    json::Value definitions = json::Value::object(), schema = json::objectSchema<T>(definitions);
    schema["$defs"] = std::move(definitions);
    described::checkMembers(text, "", described::Schema(std::move(schema)),
                            [&](const json::Value& message, const std::string&) { return from(message); });
}

}  // namespace hopscope::test

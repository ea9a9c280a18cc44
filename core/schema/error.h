#pragma once

// Writes and reads errors as JSON: {code, exit_code, message, hint, where}.

#include <concepts>

#include "base/describe.h"
#include "base/failures.h"
#include "json/reader.h"

namespace hopscope::schema {

struct ErrorRecord {
    base::ErrorCode code = base::ErrorCode::Internal;
    int exitCode = 0;
    std::string message, hint, where;
};

template <std::same_as<ErrorRecord> T>
constexpr auto fieldsOf(const T*)
{
    return base::described(
        "error", base::field("code", &T::code, "the kind of failure"),
        base::field("exit_code", &T::exitCode, "the exit code of a command that fails this way"),
        base::field("message", &T::message, "one sentence"),
        base::field("hint", &T::hint, "a suggestion; may be empty"),
        base::field("where", &T::where, "the file, JSON pointer, or operator and source line; may be empty"));
}

json::Value errorValue(const base::Error& error);
// Reads an error. The first error of the JSON itself stays in the reader.
base::Error errorFrom(const json::Reader& reader);

// Returns the document that --json prints when a command fails: {"error": ..}.
std::string writeError(const base::Error& error);

}  // namespace hopscope::schema

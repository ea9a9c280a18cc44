#pragma once

// Represents failures as values. Functions that can fail on user input return Result<T> or Status. An Error contains
// the exit code of the process, one sentence for the user and, if there is a remedy, a hint.

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace hopscope::base {

// The numbers are the exit codes of the command line; failures.h describes them.
enum class ErrorCode {
    Usage = 2,        // the command line or an argument is wrong
    Input = 3,        // an input is missing, unreadable, malformed, hostile or inconsistent, or has changed
    Unsupported = 4,  // the model is not supported or cannot be split
    Different = 5,    // verification failed, or two models differ
    Resources = 6,    // memory, disk space or another resource of the system is not enough
    Internal = 7,     // a broken invariant of Hopscope itself
    Untrusted = 8,    // the user has not agreed to run the code of the model file
    Cancelled = 130,  // stopped by the user
};

struct [[nodiscard]] Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;  // one sentence: the problem and, if known, the file or operator that it is about
    std::string hint;     // advice to the user; may be empty
    std::string where;    // for example a path, a JSON pointer or "aten::sort in convs.1 (model.py:17)"; may be empty

    explicit operator bool() const = delete;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// Makes an Error. The texts may quote contents of files, so each is reduced to one line without control characters.
// Since every Error is made here, all of them can be shown on a terminal as they are.
Error makeError(ErrorCode code, const std::string& message, const std::string& hint = {},
                const std::string& where = {});

inline tl::unexpected<Error> fail(ErrorCode code, const std::string& message, const std::string& hint = {},
                                  const std::string& where = {})
{
    return tl::unexpected<Error>(makeError(code, message, hint, where));
}

// Passes on the failure of another call.
template <class T>
tl::unexpected<Error> forward(const Result<T>& failed)
{
    return tl::unexpected<Error>(failed.error());
}

// Returns the line that a terminal shows: "message (where); hint", without `where` if the message contains it.
std::string describe(const Error& error);

}  // namespace hopscope::base

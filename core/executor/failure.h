#pragma once

// Inside this module, failures are exceptions, like LibTorch's own, because an operator may throw at any depth. The
// functions that other modules call turn every exception into an Error at the exception boundary
// (exception_boundary.h).

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace hopscope::executor {

struct Failure : std::exception {
    explicit Failure(base::Error e) : error(std::move(e)) {}
    [[nodiscard]] const char* what() const noexcept override { return error.message.c_str(); }
    base::Error error;
};

[[noreturn]] inline void raise(base::ErrorCode code, const std::string& message, const std::string& hint = {},
                               const std::string& where = {})
{
    throw Failure(base::makeError(code, message, hint, where));
}

// The hint where memory runs out, with or without a limit.
inline constexpr const char* moreMemory = "raise --memory, if it is set, or use a device with more memory";

// Checks an invariant of the executor. The check is enabled even in release builds, because it turns wrong numbers into
// an error.
inline void require(bool holds, const char* message, const std::string& where = {})
{
    if (!holds) raise(base::ErrorCode::Internal, message, {}, where);
}

template <class T>
requires(!std::is_void_v<T>) T unwrap(base::Result<T>&& result)
{
    if (!result) throw Failure(result.error());
    return std::move(*result);
}

inline void unwrap(const base::Status& status)
{
    if (!status) throw Failure(status.error());
}

}  // namespace hopscope::executor

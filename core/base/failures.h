#pragma once

// Describes each kind of failure once, with its exit code, its name in JSON and its exception in the Python package.
// docs/reference/exit-codes.md, the JSON Schema and the Python package follow from the table (tools/contract).

#include <array>

#include "base/names.h"

namespace hopscope::base {

struct Failure {
    ErrorCode code;
    const char* name;       // in JSON
    const char* summary;    // in --help
    const char* meaning;    // a sentence without its full stop, with Markdown
    const char* exception;  // of the Python package
    const char* builtin;    // the Python exception that it also derives from; empty: none
};

inline constexpr auto failures = std::to_array<Failure>({
    {ErrorCode::Usage, "usage", "usage error", "the command line or an argument is wrong", "UsageError", "ValueError"},
    {ErrorCode::Input, "input", "invalid input",
     "an input is missing, unreadable, malformed, hostile or inconsistent, or changed while a run read it",
     "InputError", "ValueError"},
    {ErrorCode::Unsupported, "unsupported", "model not supported or not splittable",
     "the model is not supported, cannot be split or, in Python, cannot be saved; the message gives the reason",
     "Refused", ""},
    {ErrorCode::Different, "different", "verification failed",
     "the results of the split and of the model's own `forward`, or of two files of a model, differ; in Python, "
     "`result` "
     "holds the run or the verification",
     "VerificationError", ""},
    {ErrorCode::Resources, "resources", "out of memory or disk space",
     "memory or disk space is not enough, even for the smallest batch", "ResourceError", "MemoryError"},
    {ErrorCode::Internal, "internal", "internal error",
     "an invariant of Hopscope is broken, or the engine has ended or does not answer; in Python, also: the engine is "
     "missing or does not fit this torch",
     "EngineError", "RuntimeError"},
    {ErrorCode::Untrusted, "untrusted", "model file not trusted",
     "you have not agreed to run the code of the model file: see `hopscope-engine trust` and `hopscope.trust`",
     "Untrusted", ""},
    {ErrorCode::Cancelled, "cancelled", "cancelled",
     "the work was stopped (Ctrl+C in Python stays a KeyboardInterrupt)", "Cancelled", ""},
});

constexpr auto namesOf(ErrorCode)
{
    std::array<Named<ErrorCode>, failures.size()> names{};
    for (std::size_t i = 0; i < failures.size(); ++i) names[i] = {failures[i].code, failures[i].name};
    return names;
}

// Returns the failure that an exit code stands for; nullopt for other numbers.
constexpr std::optional<ErrorCode> errorCodeOf(int exitCode)
{
    for (const Failure& each : failures)
        if (static_cast<int>(each.code) == exitCode) return each.code;
    return std::nullopt;
}

}  // namespace hopscope::base

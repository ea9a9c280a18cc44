#include "protocol/failures_contract.h"

#include "base/failures.h"

namespace hopscope::protocol {

namespace {

constexpr const char* head = R"(# Written by tools/contract from the table in core/base/failures.h.
"""The kinds of failures, by the engine's exit codes."""

from __future__ import annotations

from ._problem import HopscopeError

)";

std::string capitalised(std::string sentence)
{
    sentence[0] = static_cast<char>(std::toupper(sentence[0]));
    return sentence;
}

std::string classOf(const base::Failure& failure)
{
    const std::string builtin = *failure.builtin == '\0' ? "" : std::string(", ") + failure.builtin;
    return std::string("\n\nclass ") + failure.exception + "(HopscopeError" + builtin + "):\n    \"\"\"" +
           capitalised(failure.meaning) + ".\"\"\"\n\n    __module__ = \"hopscope.errors\"\n    exit_code = " +
           std::to_string(static_cast<int>(failure.code)) + "\n    name = \"" + failure.name + "\"\n";
}

}  // namespace

std::string pythonFailures()
{
    std::string text = std::string(head) + "__all__ = [\n";
    for (const base::Failure& each : base::failures) text += std::string("    \"") + each.exception + "\",\n";
    text += "]\n";
    for (const base::Failure& each : base::failures) text += classOf(each);
    return text;
}

std::string failuresTable()
{
    std::string text = "| exit code | in Python | meaning |\n|---|---|---|\n| 0 | | success |\n";
    for (const base::Failure& each : base::failures)
        text += "| " + std::to_string(static_cast<int>(each.code)) + " | `" + each.exception + "` | " + each.meaning +
                " |\n";
    return text;
}

}  // namespace hopscope::protocol

#include "base/result.h"

#include "base/text.h"

namespace hopscope::base {

Error makeError(ErrorCode code, const std::string& message, const std::string& hint, const std::string& where)
{
    return Error{.code = code, .message = oneLine(message), .hint = oneLine(hint), .where = oneLine(where)};
}

std::string describe(const Error& error)
{
    std::string text = error.message;
    const bool named = !error.where.empty() && error.message.find(error.where) != std::string::npos;
    if (!error.where.empty() && !named) text += " (" + error.where + ")";
    if (!error.hint.empty()) text += "; " + error.hint;
    return text;
}

namespace {

constexpr std::pair<ErrorCode, const char*> codes[] = {
    {ErrorCode::Usage, "usage"},         {ErrorCode::Input, "input"},         {ErrorCode::Unsupported, "unsupported"},
    {ErrorCode::Different, "different"}, {ErrorCode::Resources, "resources"}, {ErrorCode::Internal, "internal"},
    {ErrorCode::Untrusted, "untrusted"}, {ErrorCode::Cancelled, "cancelled"},
};

}  // namespace

const char* codeName(ErrorCode code)
{
    for (const auto& [each, name] : codes)
        if (each == code) return name;
    return "internal";
}

std::optional<ErrorCode> errorCodeOf(int exitCode)
{
    for (const auto& [each, name] : codes)
        if (static_cast<int>(each) == exitCode) return each;
    return std::nullopt;
}

}  // namespace hopscope::base

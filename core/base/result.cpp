#include "base/result.h"

#include "base/text.h"

namespace hopscope::base {

Error makeError(ErrorCode code, const std::string& message, const std::string& hint, const std::string& where)
{
    return Error{code, oneLine(message), oneLine(hint), oneLine(where)};
}

std::string describe(const Error& error)
{
    std::string text = error.message;
    const bool named = !error.where.empty() && error.message.find(error.where) != std::string::npos;
    if (!error.where.empty() && !named) text += " (" + error.where + ")";
    if (!error.hint.empty()) text += "; " + error.hint;
    return text;
}

const char* codeName(ErrorCode code)
{
    switch (code) {
    case ErrorCode::Usage: return "usage";
    case ErrorCode::Input: return "input";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::Different: return "different";
    case ErrorCode::Resources: return "resources";
    case ErrorCode::Internal: return "internal";
    case ErrorCode::Cancelled: return "cancelled";
    }
    return "internal";
}

}  // namespace hopscope::base

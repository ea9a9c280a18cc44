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

}  // namespace hopscope::base

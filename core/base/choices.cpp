#include "base/choices.h"

namespace hopscope::base {

std::string pinText(PinKind kind, const std::string& value, const std::string& third)
{
    std::string text = traitsOf(kind).words;
    if (const std::size_t at = text.find("%2"); at != std::string::npos) text.replace(at, 2, third);
    return text.replace(text.find("%1"), 2, value);
}

}  // namespace hopscope::base

#include "cli/option_values.h"

#include "base/units.h"

namespace hopscope::engine {

base::Result<std::optional<std::int64_t>> parseBatch(const std::string& text)
{
    if (text == "auto") return std::optional<std::int64_t>();
    const bool digits = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == std::string::npos;
    if (digits && std::stoll(text) > 0) return std::optional<std::int64_t>(std::stoll(text));
    return base::fail(base::ErrorCode::Usage, "--batch: '" + text + "' is neither auto nor a positive number");
}

base::Result<std::optional<std::int64_t>> parseMemory(const std::string& text)
{
    if (text.empty()) return std::optional<std::int64_t>();
    const base::Result<std::int64_t> bytes = base::parseSize(text);
    if (!bytes) return base::forward(bytes);
    if (*bytes < 1) return base::fail(base::ErrorCode::Usage, "--memory: must be more than 0");
    return std::optional(*bytes);
}

}  // namespace hopscope::engine

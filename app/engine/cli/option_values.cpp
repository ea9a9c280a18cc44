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

base::Result<std::optional<pipeline::ShardOptions>> parseShard(const std::string& text)
{
    if (text.empty()) return std::optional<pipeline::ShardOptions>();
    const std::size_t slash = text.find('/');
    const auto number = [](const std::string& part) {
        const bool digits =
            !part.empty() && part.size() < 6 && part.find_first_not_of("0123456789") == std::string::npos;
        return digits ? std::stoi(part) : 0;
    };
    pipeline::ShardOptions shard{number(text.substr(0, slash)),
                                 slash == std::string::npos ? 0 : number(text.substr(slash + 1))};
    if (shard.index >= 1 && shard.index <= shard.count) return std::optional(shard);
    return base::fail(base::ErrorCode::Usage, "--shard: '" + text + "' is not I/N with I from 1 to N",
                      "the second of three processes is --shard 2/3");
}

}  // namespace hopscope::engine

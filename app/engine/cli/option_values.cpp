#include "cli/option_values.h"

namespace hopscope::engine {

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
    return base::fail(base::ErrorCode::Usage,
                      "--shard: '" + text + "' is not I/N with I from 1 to N, and N below 100,000",
                      "the second of three processes is --shard 2/3");
}

}  // namespace hopscope::engine

#pragma once

// Options that are read as text, as their meaning. Fail with Usage.

#include <optional>
#include <string>

#include "base/names.h"
#include "base/result.h"
#include "pipeline/options.h"

namespace hopscope::engine {

// "2/3": part 2 of 3; none for "".
base::Result<std::optional<pipeline::ShardOptions>> parseShard(const std::string& text);

// One of the names that an enum has; `what` says in the error what it is.
template <class Choice>
base::Status choose(const std::string& text, const char* what, Choice& chosen)
{
    const base::Result<Choice> parsed = base::parseName<Choice>(text, what);
    if (!parsed) return base::forward(parsed);
    chosen = *parsed;
    return {};
}

}  // namespace hopscope::engine

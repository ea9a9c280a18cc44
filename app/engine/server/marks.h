#pragma once

// Defines the line that precedes every message between the process of a model and the process that talks to the client.
// It names the request or method, so that the message can be passed on without being parsed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/rpc.h"

namespace hopscope::engine {

inline constexpr std::size_t longestMark = 256;

struct Marked {
    std::optional<std::int64_t> answers{};  // the request; none: it is a notification
    bool succeeded = false;                 // for an answer
    std::string method{};                   // for a notification
    std::string_view message{};             // as the client gets it
};

std::string markOf(const protocol::Message& message);
// Splits a marked text, which this program has written itself, into its mark and its message.
Marked unmarked(std::string_view text);

}  // namespace hopscope::engine

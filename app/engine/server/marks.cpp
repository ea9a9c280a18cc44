#include "server/marks.h"

#include <cstdlib>

namespace hopscope::engine {

std::string markOf(const protocol::Message& message)
{
    if (const auto* const notice = std::get_if<protocol::Notification>(&message))
        return "notice " + notice->method + "\n";
    const auto* const response = std::get_if<protocol::Response>(&message);
    if (response == nullptr || !response->id) return "notice \n";
    const bool succeeded = std::holds_alternative<json::Value>(response->outcome);
    return (succeeded ? "answer " : "refusal ") + std::to_string(*response->id) + "\n";
}

Marked unmarked(std::string_view text)
{
    const std::size_t end = text.find('\n'), space = text.find(' ');
    if (end == std::string_view::npos || space > end) return {};
    const std::string_view kind = text.substr(0, space), name = text.substr(space + 1, end - space - 1);
    Marked marked{.message = text.substr(end + 1)};
    if (kind == "notice") marked.method = name;
    else marked.answers = std::atoll(std::string(name).c_str());
    marked.succeeded = kind == "answer";
    return marked;
}

}  // namespace hopscope::engine

#pragma once

// Reads and writes JSON-RPC 2.0 messages as plain data.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "json/json.h"

namespace hopscope::protocol {

inline constexpr int protocolMajor = 1;
inline constexpr int protocolMinor = 1;

namespace code {
inline constexpr int parseError = -32700;
inline constexpr int invalidRequest = -32600;
inline constexpr int unknownMethod = -32601;
inline constexpr int invalidParams = -32602;
inline constexpr int notInitialized = -32002;
inline constexpr int cancelled = -32800;
inline constexpr int failed = -32000;  // minus the exit code: -32003 for exit code 3
}  // namespace code

// The hint of an error after which an open model can no longer be used.
inline constexpr const char* openAgain = "open the model again";

struct Request {
    std::int64_t id = 0;
    std::string method;
    json::Value params;
};

struct Notification {
    std::string method;
    json::Value params;
};

struct RpcError {
    int code = 0;
    std::string message;
    std::string hint, where;  // empty where the sender gave none
    bool operator==(const RpcError&) const = default;
};

struct Response {
    std::optional<std::int64_t> id;  // none: the request could not be read
    std::variant<json::Value, RpcError> outcome = json::Value();
};

using Message = std::variant<Request, Notification, Response>;

// Parses a message without its frame. Fails with Input if the text is too large, is not JSON or is none of the three
// messages, if its `id` is not an integer, or if its `params` are not an object. The `id` of a response may be null.
base::Result<Message> readMessage(std::string_view text);
std::string writeMessage(Message message);

// Returns the response to a text that readMessage() refuses: code -32700 if it is not JSON, otherwise -32600, with the
// id of the request if it can be read.
Response refusal(std::string_view text, const base::Error& error);

// Convert the error of a failed command to that of a response, and back.
RpcError toRpc(const base::Error& error);
base::Error fromRpc(const RpcError& error);

}  // namespace hopscope::protocol

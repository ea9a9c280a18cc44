#pragma once

// Frames of JSON-RPC messages: "Content-Length: N", a blank line, N bytes. Both ends use it; it performs no input or
// output.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hopscope::protocol {

inline constexpr std::size_t maxMessageBytes = std::size_t{16} << 20;
inline constexpr std::size_t maxHeaderBytes = 4096;

// The message with its header.
std::string frame(std::string_view message);

// Cuts a byte stream into messages. After a failure the stream is lost: every later call fails as well.
class FrameReader {
public:
    // Appends what arrived. Amortised linear over the stream.
    void append(std::string_view bytes);
    // The next whole message; nothing if more bytes are needed. Fails with Input on a header that is too long, lacks
    // Content-Length or has one out of range.
    base::Result<std::optional<std::string>> next();

private:
    base::Result<bool> readHeader();

    std::string m_buffer;
    std::size_t m_consumed = 0;
    std::optional<std::size_t> m_length;  // of the message whose header has been read
    std::optional<base::Error> m_error;
};

}  // namespace hopscope::protocol

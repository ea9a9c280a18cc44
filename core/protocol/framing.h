#pragma once

// Frames of JSON-RPC messages: "Content-Length: N", a blank line, N bytes. This code performs no input or output.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hopscope::protocol {

inline constexpr std::size_t maxMessageBytes = std::size_t{16} << 20;
inline constexpr std::size_t maxHeaderBytes = 4096;

// Returns the message with its header.
std::string frame(std::string_view message);

// Splits a byte stream into messages. After a failure of next(), every later next() fails as well.
class FrameReader {
public:
    // Appends received bytes. Amortised linear over the stream.
    void append(std::string_view bytes);
    // Returns the next message; nullopt if more bytes are needed. Fails with Input if a header is too long or has a
    // line without a name, or if its Content-Length is missing, repeated, not a number or above maxMessageBytes.
    base::Result<std::optional<std::string>> next();

private:
    base::Result<bool> readHeader();

    std::string m_buffer;
    std::size_t m_consumed = 0;
    std::optional<std::size_t> m_length;  // of the message whose header has been read
    std::optional<base::Error> m_error;
};

}  // namespace hopscope::protocol

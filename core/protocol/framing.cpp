#include "protocol/framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace hopscope::protocol {

namespace {

constexpr std::string_view headerEnd = "\r\n\r\n";
constexpr std::size_t compactAbove = std::size_t{1} << 16;

bool sameName(std::string_view a, std::string_view b)
{
    return std::ranges::equal(a, b,
                              [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

base::Result<std::size_t> readLength(std::string_view text)
{
    std::size_t length = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (problem != std::errc() || end != text.data() + text.size())
        return base::fail(base::ErrorCode::Input, "Content-Length is not a number of bytes");
    if (length > maxMessageBytes)
        return base::fail(base::ErrorCode::Input, "a message of " + std::string(text) + " bytes is too long",
                          "the limit is " + std::to_string(maxMessageBytes) + " bytes");
    return length;
}

// The header block without its blank line.
base::Result<std::size_t> parseHeader(std::string_view header)
{
    std::optional<std::size_t> length;
    while (!header.empty()) {
        const std::string_view line = header.substr(0, header.find("\r\n"));
        header.remove_prefix(std::min(header.size(), line.size() + 2));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0)
            return base::fail(base::ErrorCode::Input, "a header line has no name");
        if (!sameName(line.substr(0, colon), "Content-Length")) continue;
        if (length) return base::fail(base::ErrorCode::Input, "Content-Length appears twice");
        const base::Result<std::size_t> value = readLength(trimmed(line.substr(colon + 1)));
        if (!value) return base::forward(value);
        length = *value;
    }
    if (!length) return base::fail(base::ErrorCode::Input, "the header has no Content-Length");
    return *length;
}

}  // namespace

std::string frame(std::string_view message)
{
    std::string framed = "Content-Length: " + std::to_string(message.size());
    framed.reserve(framed.size() + headerEnd.size() + message.size());
    return framed.append(headerEnd).append(message);
}

void FrameReader::append(std::string_view bytes)
{
    if (m_error) return;
    if (m_consumed > compactAbove && m_consumed > m_buffer.size() / 2) {
        m_buffer.erase(0, m_consumed);
        m_consumed = 0;
    }
    m_buffer.append(bytes);
}

// True if the length of the next message is known.
base::Result<bool> FrameReader::readHeader()
{
    if (m_length) return true;
    const std::string_view rest = std::string_view(m_buffer).substr(m_consumed);
    const std::size_t end = rest.substr(0, maxHeaderBytes).find(headerEnd);
    if (end == std::string_view::npos) {
        if (rest.size() < maxHeaderBytes) return false;
        return base::fail(base::ErrorCode::Input,
                          "the header has more than " + std::to_string(maxHeaderBytes) + " bytes");
    }
    const base::Result<std::size_t> length = parseHeader(rest.substr(0, end));
    if (!length) return base::forward(length);
    m_length = *length;
    m_consumed += end + headerEnd.size();
    return true;
}

base::Result<std::optional<std::string>> FrameReader::next()
{
    if (m_error) return tl::unexpected<base::Error>(*m_error);
    const base::Result<bool> known = readHeader();
    if (!known) {
        m_error = known.error();
        return base::forward(known);
    }
    if (!*known || m_buffer.size() - m_consumed < *m_length) return std::nullopt;
    std::string message = m_buffer.substr(m_consumed, *m_length);
    m_consumed += *m_length;
    m_length.reset();
    if (m_consumed == m_buffer.size()) {
        m_buffer.clear();
        m_consumed = 0;
    }
    return message;
}

}  // namespace hopscope::protocol

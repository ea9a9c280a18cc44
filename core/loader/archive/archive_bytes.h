#pragma once

// Little-endian reads that are confined to a buffer: reads outside it return zero.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hopscope::loader::bytes {

class Reader {
public:
    explicit Reader(std::span<const std::byte> file) : m_file(file) {}

    [[nodiscard]] std::uint64_t size() const { return m_file.size(); }
    [[nodiscard]] std::span<const std::byte> all() const { return m_file; }
    [[nodiscard]] bool has(std::uint64_t at, std::uint64_t count) const
    {
        return at <= m_file.size() && count <= m_file.size() - at;
    }
    [[nodiscard]] std::uint16_t u16(std::uint64_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
    [[nodiscard]] std::uint32_t u32(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }
    [[nodiscard]] std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }
    [[nodiscard]] std::string_view text(std::uint64_t at, std::uint64_t count) const
    {
        if (!has(at, count)) return {};
        return {reinterpret_cast<const char*>(m_file.data() + at), count};
    }
    [[nodiscard]] bool matches(std::uint64_t at, std::string_view magic) const
    {
        return has(at, magic.size()) && text(at, magic.size()) == magic;
    }

private:
    [[nodiscard]] std::uint64_t number(std::uint64_t at, int count) const
    {
        if (!has(at, static_cast<std::uint64_t>(count))) return 0;
        std::uint64_t value = 0;
        for (int i = count - 1; i >= 0; --i)
            value = value << 8 | std::to_integer<std::uint64_t>(m_file[at + static_cast<std::uint64_t>(i)]);
        return value;
    }

    std::span<const std::byte> m_file;
};

// Returns a text for messages: at most 80 characters, with '?' for control characters.
inline std::string printable(std::string_view text)
{
    std::string out(text.substr(0, 80));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
    return out;
}

}  // namespace hopscope::loader::bytes

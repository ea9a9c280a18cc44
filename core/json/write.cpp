#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "json/json.h"

namespace hopscope::json {

namespace {

void writeAscii(std::string& out, char c)
{
    constexpr std::string_view special = "\"\\\b\f\n\r\t";
    constexpr std::string_view letters = "\"\\bfnrt";
    const std::size_t found = special.find(c);
    if (found != std::string_view::npos) {
        out += {'\\', letters[found]};
        return;
    }
    if (static_cast<unsigned char>(c) >= 0x20) {
        out += c;
        return;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u00";
    out += {digits[static_cast<unsigned char>(c) >> 4U], digits[static_cast<unsigned char>(c) & 0xFU]};
}

bool isPlain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void writeString(std::string& out, std::string_view text)
{
    out += '"';
    const auto plain = static_cast<std::size_t>(std::ranges::find_if_not(text, isPlain) - text.begin());
    out += text.substr(0, plain);
    for (std::size_t at = plain; at < text.size();) {
        const std::size_t length = base::utf8Length(text, at);
        if (length == 1) writeAscii(out, text[at]);
        else if (length == 0) out += "\xEF\xBF\xBD";
        else out += text.substr(at, length);
        at += std::max<std::size_t>(length, 1);
    }
    out += '"';
}

void writeDouble(std::string& out, double value)
{
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    std::array<char, 32> text{};
    const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
    out += digits;
    if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

bool isScalar(const Value& value) { return !value.isArray() && !value.isObject(); }

class Writer {
public:
    Writer(std::string& out, bool pretty) : m_out(out), m_pretty(pretty) {}

    void write(const Value& value)
    {
        if (const bool* const flag = value.asBool()) m_out += *flag ? "true" : "false";
        else if (const std::int64_t* const number = value.asInt()) m_out += std::to_string(*number);
        else if (const double* const real = value.asDouble()) writeDouble(m_out, *real);
        else if (const std::string* const text = value.asString()) writeString(m_out, *text);
        else if (const Array* const items = value.asArray()) writeArray(*items);
        else if (const Object* const members = value.asObject()) writeObject(*members);
        else m_out += "null";
    }

private:
    void writeArray(const Array& items)
    {
        const bool oneLine = std::all_of(items.begin(), items.end(), isScalar);
        m_out += '[';
        ++m_level;
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) m_out += oneLine && m_pretty ? ", " : ",";
            if (!oneLine) newLine();
            write(items[i]);
        }
        --m_level;
        if (!oneLine) newLine();
        m_out += ']';
    }

    void writeObject(const Object& members)
    {
        m_out += '{';
        ++m_level;
        bool first = true;
        for (const auto& [key, value] : members) {
            if (!first) m_out += ',';
            first = false;
            newLine();
            writeString(m_out, key);
            m_out += m_pretty ? ": " : ":";
            write(value);
        }
        --m_level;
        if (!members.empty()) newLine();
        m_out += '}';
    }

    void newLine()
    {
        if (m_pretty) m_out += "\n" + std::string(2 * m_level, ' ');
    }

    std::string& m_out;
    bool m_pretty;
    std::size_t m_level = 0;
};

}  // namespace

std::string write(const Value& value, bool pretty)
{
    std::string out;
    Writer(out, pretty).write(value);
    if (pretty) out += '\n';
    return out;
}

}  // namespace hopscope::json

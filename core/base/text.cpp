#include "base/text.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace hopscope::base {

std::size_t utf8Length(std::string_view text, std::size_t at)
{
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80) return 0;
    const unsigned second = byte(1);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
    return overlong || outside ? 0 : length;
}

namespace {

void appendSpace(std::string& line)
{
    if (!line.empty() && line.back() != ' ') line += ' ';
}

std::string shorten(std::string line, std::size_t limit)
{
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.size() <= limit) return line;
    std::size_t end = 0;
    while (end + utf8Length(line, end) <= limit) end += utf8Length(line, end);
    line.resize(end);
    return line + "\u2026";
}

}  // namespace

std::string oneLine(std::string_view text, std::size_t limit)
{
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8Length(text, at);
        const auto byte = static_cast<unsigned char>(text[at]);
        if (length == 0) line += "\uFFFD";
        else if (byte < 0x20 || byte == 0x7f) appendSpace(line);
        else line += text.substr(at, length);
        at += length == 0 ? 1 : length;
    }
    return shorten(std::move(line), limit);
}

std::size_t shownWidth(std::string_view text)
{
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\033') {
            i = std::min(text.find('m', i), text.size());
            continue;
        }
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) ++width;
    }
    return width;
}

std::size_t edits(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
    }
    return last[b.size()];
}

}  // namespace hopscope::base

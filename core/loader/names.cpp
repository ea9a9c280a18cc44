#include "loader/names.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace hopscope::loader::names {

namespace {

// Lower case, without separators and without a plural s.
std::string folded(std::string_view name)
{
    std::string out;
    for (const char c : name)
        if (c != '_' && c != '-' && c != ' ')
            out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    if (out.size() > 2 && out.back() == 's') out.pop_back();
    return out;
}

// Edits between two words; swapping neighbours is one edit.
std::size_t distance(std::string_view a, std::string_view b)
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

}  // namespace

bool similar(std::string_view key, std::string_view wanted)
{
    const std::string a = folded(key), b = folded(wanted);
    if (a == b) return true;
    const std::size_t length = std::min(a.size(), b.size());
    const std::size_t allowed = length >= 7 ? 2 : length >= 4 ? 1 : 0;
    return distance(a, b) <= allowed;
}

std::string nearest(std::string_view wanted, const base::TensorMap& inputs)
{
    for (const auto& [key, view] : inputs)
        if (similar(key.substr(0, key.find('.')), wanted)) return key;
    return {};
}

std::string firstLine(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    text.remove_prefix(first);
    std::string line(text.substr(0, std::min<std::size_t>(text.find('\n'), 300)));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
    return line;
}

}  // namespace hopscope::loader::names

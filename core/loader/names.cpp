#include "loader/names.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

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

}  // namespace

bool similar(std::string_view key, std::string_view wanted)
{
    const std::string a = folded(key), b = folded(wanted);
    if (a == b) return true;
    const std::size_t length = std::min(a.size(), b.size());
    const std::size_t allowed = length >= 7 ? 2 : length >= 4 ? 1 : 0;
    return base::edits(a, b) <= allowed;
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

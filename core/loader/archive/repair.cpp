#include "loader/archive/repair.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace hopscope::loader {

namespace {

std::string_view trim(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> splitLines(std::string_view text)
{
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

// Takes the text up to `mark` from the front of `rest`, and the mark; false if there is none.
bool take(std::string_view& rest, std::string_view mark, std::string& out)
{
    const std::size_t at = rest.find(mark);
    if (at == std::string_view::npos) return false;
    out = rest.substr(0, at);
    rest.remove_prefix(at + mark.size());
    return true;
}

// Types as code writes them: without "(of Python compilation unit at: 0x...)" and "(inferred)".
std::string asWritten(std::string type)
{
    for (std::size_t at = type.find(" ("); at != std::string::npos; at = type.find(" (", at)) {
        const std::size_t end = type.find(')', at);
        if (end == std::string::npos) break;
        type.erase(at, end - at + 1);
    }
    return type;
}

// The error text quotes the code and underlines the `if` with all that belongs to it: its first underlined line.
std::string underlined(std::string_view quoted)
{
    const auto lines = splitLines(quoted);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i)
        if (trim(lines[i + 1]).starts_with("~")) return std::string(trim(lines[i]));
    return {};
}

}  // namespace

std::optional<TypeMismatch> parseTypeMismatch(std::string_view error)
{
    TypeMismatch m;
    std::string skipped, number;
    if (!take(error, "Type mismatch: ", skipped)) return {};
    if (!take(error, " is set to type ", m.variable)) return {};
    if (!take(error, " in the true branch and type ", m.types[0])) return {};
    if (!take(error, " in the false branch", m.types[1])) return {};
    if (!take(error, "File \"", skipped) || !take(error, "\", line ", m.record)) return {};
    if (!take(error, "\n", number)) return {};
    for (std::string& type : m.types) type = asWritten(type);
    std::from_chars(number.data(), number.data() + number.size(), m.line);
    m.branch = underlined(error);
    if (m.line <= 0 || !m.branch.starts_with("if ")) return {};
    return m;
}

std::optional<Insertion> declareUnion(std::string& code, const TypeMismatch& mismatch)
{
    constexpr int kReach = 10;
    const auto lines = splitLines(code);
    const int count = static_cast<int>(lines.size());
    for (int distance = 0; distance <= kReach; ++distance)
        for (const int line : {mismatch.line - 1 + distance, mismatch.line - 1 - distance}) {
            if (line < 0 || line >= count) continue;
            const std::string_view text = lines[static_cast<std::size_t>(line)];
            if (trim(text) != mismatch.branch) continue;
            const std::string type = "Union[" + mismatch.types[0] + ", " + mismatch.types[1] + "]";
            const Insertion insertion{line + 1, mismatch.variable + ": " + type + " = uninitialized(" + type + ")"};
            const std::string indent(text.substr(0, text.find_first_not_of(' ')));
            code.insert(static_cast<std::size_t>(text.data() - code.data()), indent + insertion.text + "\n");
            return insertion;
        }
    return {};
}

}  // namespace hopscope::loader

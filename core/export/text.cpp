#include "export/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/text.h"

namespace hopscope::exporter {

namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Keywords, names that the generated code uses, and names that linters object to.
const std::set<std::string, std::less<>>& reserved()
{
    static const std::set<std::string, std::less<>> names{
        "False",    "None",   "True",    "and",      "as",       "assert",   "async",   "await", "break", "class",
        "continue", "def",    "del",     "elif",     "else",     "except",   "finally", "for",   "from",  "global",
        "if",       "import", "in",      "is",       "lambda",   "nonlocal", "not",     "or",    "pass",  "raise",
        "return",   "try",    "while",   "with",     "yield",    "l",        "O",       "I",     "torch", "math",
        "self",     "Tensor", "int",     "float",    "bool",     "min",      "max",     "abs",   "round", "device",
        "annotate", "List",   "Dict",    "Optional", "str",      "dict",     "list",    "match", "case",  "print",
        "len",      "type",   "nn",      "Any",      "training", "half",     "dump",    "eval",  "train", "to",
        "cpu",      "cuda",   "forward", "prologue", "results",  "_"};
    return names;
}

// Controls of U+0080 to U+009F; line and paragraph separators; marks of direction and of no width.
bool hidden(std::string_view character)
{
    const bool control = character[0] == '\xC2' && static_cast<unsigned char>(character[1]) < 0xA0;
    if (control || character == "\xEF\xBB\xBF") return true;
    if (!character.starts_with("\xE2\x80") && !character.starts_with("\xE2\x81")) return false;
    const auto last = static_cast<unsigned char>(character[2]);
    return character[1] == '\x80' ? (last >= 0x8B && last <= 0x8F) || (last >= 0xA8 && last <= 0xAE) : last >= 0xA0;
}

}  // namespace

Text joined(const std::vector<Text>& items)
{
    Text text;
    for (const Text& item : items) text += (&item == items.data() ? Text() : Text(", ")) + item;
    return text;
}

Text listed(const std::vector<Text>& items) { return Text("[") + joined(items) + "]"; }

std::string realText(double number)
{
    if (std::isnan(number)) return "float(\"nan\")";
    if (std::isinf(number)) return number > 0 ? "float(\"inf\")" : "float(\"-inf\")";
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    std::string text(digits.data(), end);
    const bool whole = text.find_first_of(".e") == std::string::npos;
    return whole ? text + ".0" : text;
}

std::string plain(const std::string& text)
{
    static constexpr std::pair<char, char> others[] = {{'\\', '/'}, {'"', '\''}, {'|', '!'}, {'`', '\''}};
    std::string line;
    const std::string all = base::oneLine(text);
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t length = base::utf8Length(all, at);
        const std::string_view character = std::string_view(all).substr(at, length);
        const auto* const other = std::ranges::find(others, character[0], &std::pair<char, char>::first);
        if (other != std::end(others)) line += other->second;
        else line += hidden(character) ? std::string_view(" ") : character;
        at += length;
    }
    return line;
}

// The compiler of TorchScript knows no numbers of characters but octal ones.
std::string quoted(const std::string& text)
{
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\\') result += "\\\\";
        else if (byte >= 32 && byte != 127 && c != '"') result += c;
        else
            for (const unsigned shift : {9U, 6U, 3U, 0U})
                result += shift == 9 ? '\\' : static_cast<char>('0' + (byte >> shift & 7U));
    }
    return result + "\"";
}

std::string identifier(std::string_view label)
{
    std::string name;
    for (const char c : label) {
        if (isLetter(c) || isDigit(c)) name += c;
        else if (!name.empty() && name.back() != '_') name += '_';
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    if (name.empty() || isDigit(name[0])) name.insert(0, "v_");
    return reserved().contains(name) ? name + "_" : name;
}

std::vector<std::string> namesIn(std::string_view code)
{
    std::vector<std::string> names;
    for (std::size_t at = 0; at < code.size();) {
        if (code[at] == '"') at = std::min(code.find('"', at + 1), code.size() - 1);
        if (!isLetter(code[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < code.size() && (isLetter(code[end]) || isDigit(code[end]))) ++end;
        if (at == 0 || code[at - 1] != '.') names.emplace_back(code.substr(at, end - at));
        at = end;
    }
    return names;
}

}  // namespace hopscope::exporter

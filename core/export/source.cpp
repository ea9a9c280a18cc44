#include "export/source.h"

#include <algorithm>
#include <cctype>

namespace hopscope::exporter {

namespace {

constexpr std::size_t widest = 100;

std::string typeOf(const Parameter& p) { return p.name + (p.number ? ": int" : ": Tensor"); }

std::string left(const Statement& statement)
{
    if (statement.targets.empty()) return "assert ";
    std::string text;
    for (const std::string& target : statement.targets) text += (text.empty() ? "" : ", ") + target;
    return text + " = ";
}

// The position of the opening bracket that matches the one at the end of a text; npos if there is none.
std::size_t openingOfLast(const std::string& text)
{
    static const std::string open = "([{", close = ")]}";
    if (text.empty() || close.find(text.back()) == std::string::npos) return std::string::npos;
    int depth = 0;
    bool quoted = false;
    for (std::size_t at = text.size(); at-- > 0;) {
        if (text[at] == '"') quoted = !quoted;
        if (quoted) continue;
        if (close.find(text[at]) != std::string::npos) ++depth;
        if (open.find(text[at]) != std::string::npos && --depth == 0) return at;
    }
    return std::string::npos;
}

bool isCallOrList(const std::string& text, std::size_t opening)
{
    const char before = opening == 0 ? ' ' : text[opening - 1];
    const bool afterName =
        std::isalnum(static_cast<unsigned char>(before)) != 0 || before == '_' || before == ']' || before == ')';
    return text[opening] == '(' ? afterName : !afterName;
}

// At commas outside of brackets and texts.
std::vector<std::string> elements(const std::string& list)
{
    std::vector<std::string> found(1);
    int depth = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < list.size(); ++at) {
        const char c = list[at];
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '(' || c == '[' || c == '{')) ++depth;
        if (!quoted && (c == ')' || c == ']' || c == '}')) --depth;
        if (c == ',' && depth == 0 && !quoted) found.emplace_back(), ++at;
        else found.back() += c;
    }
    return found;
}

// The arguments of the last call, or the elements of a list, one by one, where they do not fit into one line.
std::string broken(const std::string& before, const std::string& text)
{
    const std::string line = "        " + before + text + "\n";
    const std::size_t opening = openingOfLast(text);
    if (line.size() <= widest || opening == std::string::npos || !isCallOrList(text, opening)) return line;
    std::string lines = "        " + before + text.substr(0, opening + 1) + "\n";
    for (const std::string& element : elements(text.substr(opening + 1, text.size() - opening - 2)))
        lines += "            " + element + ",\n";
    return lines + "        " + text.back() + "\n";
}

std::string script(const Method& method, const std::string& result)
{
    return headText(method, method.name(), result) + bodyText(method, &Text::script);
}

}  // namespace

// One parameter per line where they do not fit into one.
std::string headText(const Method& method, const std::string& name, const std::string& result)
{
    std::string list = "self";
    for (const Parameter& p : method.parameters()) list += ", " + typeOf(p);
    const std::string line = "    def " + name + "(" + list + ") -> " + result + ":\n";
    if (line.size() <= widest) return line;
    std::string text = "    def " + name + "(\n        self,\n";
    for (const Parameter& p : method.parameters()) text += "        " + typeOf(p) + ",\n";
    return text + "    ) -> " + result + ":\n";
}

std::string bodyText(const Method& method, std::string Text::*spelling)
{
    // The compiler of TorchScript knows no comma at the end of a dictionary.
    const auto line = [breaks = spelling == &Text::python](const std::string& before, const std::string& text) {
        return breaks ? broken(before, text) : "        " + before + text + "\n";
    };
    std::string text, comment;
    for (const Statement& s : method.statements()) {
        if (s.comment != comment && !s.comment.empty()) text += "        # " + s.comment + "\n";
        comment = s.comment;
        text += line(left(s), s.value.*spelling);
    }
    return text + line("return ", method.result().*spelling);
}

std::string scriptSource(const Stages& stages)
{
    std::string text = script(stages.prologue, "Dict[str, Tensor]");
    for (const Method& loop : stages.loops) text += "\n" + script(loop, "List[Tensor]");
    if (stages.results) text += "\n" + script(*stages.results, "List[Tensor]");
    return text;
}

}  // namespace hopscope::exporter

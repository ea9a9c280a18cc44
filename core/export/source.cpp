#include "export/source.h"

#include <algorithm>

namespace hopscope::exporter {

namespace {

constexpr std::size_t widest = 100;

std::string typeOf(const Parameter& p) { return p.name + (p.number ? ": int" : ": Tensor"); }

// One parameter per line where they do not fit into one.
std::string head(const Method& method, const std::string& result)
{
    std::string list = "self";
    for (const Parameter& p : method.parameters()) list += ", " + typeOf(p);
    const std::string line = "    def " + method.name() + "(" + list + ") -> " + result + ":\n";
    if (line.size() <= widest) return line;
    std::string text = "    def " + method.name() + "(\n        self,\n";
    for (const Parameter& p : method.parameters()) text += "        " + typeOf(p) + ",\n";
    return text + "    ) -> " + result + ":\n";
}

std::string left(const Statement& statement)
{
    if (statement.targets.empty()) return "assert ";
    std::string text;
    for (const std::string& target : statement.targets) text += (text.empty() ? "" : ", ") + target;
    return text + " = ";
}

// The elements of a list or dictionary one by one, where they do not fit into one line.
std::string broken(const std::string& text)
{
    if (text.size() <= widest || (text.front() != '{' && text.front() != '[')) return text;
    std::string lines(1, text.front());
    std::size_t from = 1;
    for (std::size_t at = text.find(", "); at != std::string::npos; at = text.find(", ", from)) {
        lines += "\n            " + text.substr(from, at - from) + ",";
        from = at + 2;
    }
    return lines + "\n            " + text.substr(from, text.size() - from - 1) + "\n        " + text.back();
}

std::string body(const Method& method, std::string Text::*spelling)
{
    std::string text, comment;
    for (const Statement& s : method.statements()) {
        if (s.comment != comment && !s.comment.empty()) text += "        # " + s.comment + "\n";
        comment = s.comment;
        text += "        " + left(s) + s.value.*spelling + "\n";
    }
    return text + "        return " + broken(method.result().*spelling) + "\n";
}

std::string method(const Method& method, std::string Text::*spelling, const std::string& result,
                   const std::string& documentation)
{
    return head(method, result) + documentation + body(method, spelling);
}

// ---- documentation

std::string described(const schema::CodeRows& rows)
{
    switch (rows.kind) {
    case schema::CodeRowsKind::Batch: return "the batch's rows of " + rows.table;
    case schema::CodeRowsKind::Owned: return "the rows of " + rows.table + " that the batch owns by " + rows.key;
    case schema::CodeRowsKind::Frontier: break;
    }
    return "the frontier of " + rows.table;
}

std::string described(const schema::CodeArgument& a)
{
    switch (a.kind) {
    case schema::ArgumentKind::Rows: return ir::valueName(a.value) + " on " + described(a.rows.at(0));
    case schema::ArgumentKind::Whole: return "all of " + ir::valueName(a.value);
    case schema::ArgumentKind::Positions:
        return a.key + " of " + described(a.rows.at(0)) + ", as places in " + described(a.rows.at(1));
    case schema::ArgumentKind::Count: return "how many are " + described(a.rows.at(0));
    case schema::ArgumentKind::Size: return "rows of " + a.table + " in the whole graph";
    case schema::ArgumentKind::Parents: return "places of the selected rows in " + described(a.rows.at(1));
    case schema::ArgumentKind::Order: break;
    }
    return "places of " + described(a.rows.at(0)) + " in the parts put together";
}

std::string argumentList(const std::vector<schema::CodeArgument>& arguments)
{
    std::string text;
    for (const schema::CodeArgument& a : arguments) text += "        " + a.name + ": " + described(a) + "\n";
    return text.empty() ? text : "\n" + text;
}

std::string plainText(std::string text)
{
    std::ranges::replace(text, '\\', '/');
    std::ranges::replace(text, '"', '\'');
    return text;
}

std::string loopDocumentation(const schema::CodeLoop& loop)
{
    std::string returned;
    for (const schema::CodeResult& r : loop.results)
        returned += (returned.empty() ? "" : ", ") + std::string(r.merge ? "contributions to " : "rows of ") +
                    ir::valueName(r.value);
    return "        \"\"\"Stage " + std::to_string(loop.stage) + ", for a batch of " + plainText(loop.destination) +
           ": returns " + returned + ".\n" + plainText(argumentList(loop.arguments)) + "        \"\"\"\n";
}

bool usesMath(const Stages& stages)
{
    const auto uses = [](const Method& m) {
        return std::ranges::any_of(
                   m.statements(),
                   [](const Statement& s) { return s.value.python.find("math.") != std::string::npos; }) ||
               m.result().python.find("math.") != std::string::npos;
    };
    return uses(stages.prologue) || std::ranges::any_of(stages.loops, uses) ||
           (stages.results && uses(*stages.results));
}

std::string weightTable(const schema::Code& code)
{
    std::string text = "WEIGHTS = {\n";
    for (const schema::CodeWeight& w : code.weights) text += "    \"" + w.attribute + "\": " + quoted(w.name) + ",\n";
    return code.weights.empty() ? "WEIGHTS: dict[str, str] = {}\n" : text + "}\n";
}

std::string initialiser()
{
    return "    def __init__(self, weights: dict[str, Tensor]) -> None:\n"
           "        super().__init__()\n"
           "        for attribute, name in WEIGHTS.items():\n"
           "            self.register_buffer(attribute, weights[name])\n";
}

}  // namespace

std::string pythonSource(const Stages& stages, const std::string& title)
{
    std::string text = "\"\"\"" + plainText(title) +
                       "\n\nThe tensors of each method are described in schema.json, under \"code\".\n\"\"\"\n\n";
    text += std::string(usesMath(stages) ? "import math\n\n" : "") + "import torch\nfrom torch import Tensor, nn\n\n";
    text += "# Attributes of the module, and the names of these weights in weights.safetensors and in the model's "
            "state_dict().\n";
    text += weightTable(stages.code) + "\n\nclass Stages(nn.Module):\n" + initialiser();
    text += "\n" + method(stages.prologue, &Text::python, "dict[str, Tensor]",
                          "        \"\"\"Once for the whole graph: what follows from its structure alone.\"\"\"\n");
    for (std::size_t i = 0; i < stages.loops.size(); ++i)
        text += "\n" + method(stages.loops[i], &Text::python, "list[Tensor]", loopDocumentation(stages.code.loops[i]));
    if (stages.results)
        text += "\n" + method(*stages.results, &Text::python, "list[Tensor]",
                              "        \"\"\"After the last stage: the outputs that have no rows.\n" +
                                  plainText(argumentList(stages.code.results)) + "        \"\"\"\n");
    return text;
}

std::string scriptSource(const Stages& stages)
{
    std::string text = method(stages.prologue, &Text::script, "Dict[str, Tensor]", "");
    for (const Method& loop : stages.loops) text += "\n" + method(loop, &Text::script, "List[Tensor]", "");
    if (stages.results) text += "\n" + method(*stages.results, &Text::script, "List[Tensor]", "");
    return text;
}

}  // namespace hopscope::exporter

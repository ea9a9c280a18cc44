#include "export/python_files.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "export/source.h"

namespace hopscope::exporter {

namespace {

// ---- documentation

std::string described(const schema::CodeRows& rows)
{
    switch (rows.kind) {
    case schema::CodeRowsKind::Batch: return "the batch's rows of " + plain(rows.table);
    case schema::CodeRowsKind::Owned:
        return "the rows of " + plain(rows.table) + " that the batch owns by " + plain(rows.key);
    case schema::CodeRowsKind::Frontier: break;
    }
    return "the frontier's rows of " + plain(rows.table);
}

std::string called(const analysis::ValueNames& names, ir::ValueId value)
{
    return plain(names[value]) + " (" + ir::valueName(value) + ")";
}

std::string described(const schema::CodeArgument& a, const analysis::ValueNames& names)
{
    switch (a.kind) {
    case schema::ArgumentKind::Rows: return called(names, a.value) + " on " + described(a.rows.at(0));
    case schema::ArgumentKind::Whole: return "all of " + called(names, a.value);
    case schema::ArgumentKind::Positions:
        return plain(a.key) + " of " + described(a.rows.at(0)) + ", as positions in " + described(a.rows.at(1));
    case schema::ArgumentKind::Count: return "the number of " + described(a.rows.at(0));
    case schema::ArgumentKind::Size: return "the number of rows of " + plain(a.table) + " in the whole graph";
    case schema::ArgumentKind::Parents: return "positions of the selected rows in " + described(a.rows.at(1));
    case schema::ArgumentKind::Order: break;
    }
    return "positions of " + described(a.rows.at(0)) + " in the concatenated parts";
}

std::string argumentList(const std::vector<schema::CodeArgument>& arguments, const analysis::ValueNames& names)
{
    std::string text;
    for (const schema::CodeArgument& a : arguments) text += "        " + a.name + ": " + described(a, names) + "\n";
    return text.empty() ? text : "\n" + text;
}

std::string returnedBy(const schema::CodeLoop& loop, const analysis::ValueNames& names)
{
    std::string text;
    for (const schema::CodeResult& r : loop.results)
        text += (text.empty() ? "" : ", ") + std::string(r.merge ? "contributions to " : "rows of ") +
                called(names, r.value);
    return text;
}

// ---- files

// A module of a file: a method of stages.pt as its `forward`.
struct Part {
    const Method* method;
    std::string result, documentation;
    std::string name = {};  // of the class
};

// "stage_1_user" becomes Stage1User.
std::string className(const std::string& method)
{
    std::string name;
    bool first = true;
    for (const char c : method) {
        if (c != '_') name += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        first = c == '_';
    }
    return name;
}

// Distinct also for tables whose names differ in underscores alone.
void nameClasses(std::vector<Part>& parts)
{
    std::set<std::string> taken;
    for (Part& part : parts) {
        part.name = className(part.method->name());
        while (!taken.insert(part.name).second) part.name += '_';
    }
}

bool contains(const Method& method, const std::string& code)
{
    const auto holds = [&code](const std::string& text) {
        for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code, at + 1)) {
            const std::size_t end = at + code.size();
            if (code.back() == '.' || end == text.size()) return true;
            if (std::isalnum(static_cast<unsigned char>(text[end])) == 0 && text[end] != '_') return true;
        }
        return false;
    };
    return holds(method.result().python) ||
           std::ranges::any_of(method.statements(), [&](const Statement& s) { return holds(s.value.python); });
}

std::string weightTable(const Method& method, const schema::Code& code)
{
    std::string text;
    for (const schema::CodeWeight& w : code.weights)
        if (contains(method, "self." + w.attribute))
            text += "        \"" + w.attribute + "\": " + quoted(w.name) + ",\n";
    if (text.empty()) return {};
    return "    # Attributes, and the names in weights.safetensors: as in the model's state_dict(), or constant.N.\n"
           "    WEIGHTS: ClassVar[dict[str, str]] = {\n" +
           text +
           "    }\n\n"
           "    def __init__(self, weights: dict[str, Tensor]) -> None:\n"
           "        super().__init__()\n"
           "        for attribute, name in self.WEIGHTS.items():\n"
           "            self.register_buffer(attribute, weights[name])\n\n";
}

std::string moduleText(const Part& part, const schema::Code& code)
{
    std::string own = weightTable(*part.method, code);
    if (own.empty())
        own = "    def __init__(self, weights: dict[str, Tensor]) -> None:  # none are used\n"
              "        super().__init__()\n\n";
    return "\n\nclass " + part.name + "(nn.Module):\n" + own + headText(*part.method, "forward", part.result) +
           part.documentation + bodyText(*part.method, &Text::python);
}

std::string imports(const std::vector<Part>& parts)
{
    const auto uses = [&parts](const std::string& module) {
        return std::ranges::any_of(parts, [&](const Part& p) { return contains(*p.method, module); });
    };
    const bool weights = uses("self.");
    return std::string(uses("math.") ? "import math\n" : "") + (weights ? "from typing import ClassVar\n" : "") +
           (weights || uses("math.") ? "\n" : "") + (uses("torch.") ? "import torch\n" : "") +
           "from torch import Tensor, nn\n";
}

std::string fileText(const std::string& title, const std::vector<Part>& parts, const schema::Code& code)
{
    std::string text = "\"\"\"" + title + "\"\"\"\n\n" + imports(parts), methods;
    for (const Part& part : parts) {
        text += moduleText(part, code);
        methods += "    \"" + part.method->name() + "\": " + part.name + ",\n";
    }
    return text + "\n\n# The classes, by the names of their methods in schema.json.\nMETHODS = {\n" + methods + "}\n";
}

Part partOf(const Stages& stages, std::size_t loop, const analysis::ValueNames& names)
{
    const schema::CodeLoop& code = stages.code.loops[loop];
    return {.method = &stages.loops[loop],
            .result = "list[Tensor]",
            .documentation = "        \"\"\"For a batch of " + plain(code.destination) + ": returns " +
                             returnedBy(code, names) + ".\n" + argumentList(code.arguments, names) +
                             "        \"\"\"\n"};
}

std::string stageFile(const std::string& title, std::vector<Part> parts, const schema::Code& code)
{
    nameClasses(parts);
    return fileText(title +
                        "\n\nFor use in other code:\n\n    weights = safetensors.torch.load_file"
                        "('weights.safetensors')\n    module = " +
                        parts.front().name +
                        "(weights)\n\nrun.py cuts the arguments from the graph, as schema.json says under 'code'.\n",
                    parts, code);
}

}  // namespace

std::map<std::string, std::string> pythonFiles(const Stages& stages, const analysis::ValueNames& names,
                                               const std::string& model, const std::string& tool)
{
    const std::string by = " of " + plain(model) + ", written by " + tool + ".";
    std::map<std::string, std::vector<Part>> files;
    std::map<std::string, std::string> texts;
    for (std::size_t i = 0; i < stages.loops.size(); ++i)
        files["stage_" + std::to_string(stages.code.loops[i].stage.number)].push_back(partOf(stages, i, names));
    for (const auto& [file, parts] : files)
        texts[file + ".py"] = stageFile("Stage " + file.substr(6) + by, parts, stages.code);
    const Part prologue{
        .method = &stages.prologue, .result = "dict[str, Tensor]", .documentation = "", .name = "Prologue"};
    texts["prologue.py"] =
        fileText("The prologue" + by +
                     "\n\nIt computes, once for the whole graph, the values that depend on the structure of the "
                     "graph alone.\nThe keys of the result are those in schema.json.\n",
                 {prologue}, stages.code);
    if (!stages.results) return texts;
    const Part results{.method = &*stages.results,
                       .result = "list[Tensor]",
                       .documentation = "        \"\"\"The arguments:\n" + argumentList(stages.code.results, names) +
                                        "        \"\"\"\n",
                       .name = "Results"};
    texts["results.py"] = fileText("The outputs without rows" + by + "\n\nThey are computed after the last stage.\n",
                                   {results}, stages.code);
    return texts;
}

}  // namespace hopscope::exporter

#include "export/readme.h"

#include <filesystem>

#include "analysis/naming/value_names.h"
#include "export/text.h"
#include "graph/formats.h"

namespace hopscope::exporter {

namespace {

// "64", or "node" for "|node|".
std::string sizeText(const schema::Dim& dim)
{
    if (const auto* n = std::get_if<std::int64_t>(&dim)) return std::to_string(*n);
    const auto& table = std::get<std::string>(dim);
    return plain(table.starts_with('|') ? table.substr(1, table.size() - 2) : table);
}

std::string shapeText(const schema::TensorSpec& spec)
{
    std::string text;
    for (const schema::Dim& dim : spec.shape) text += (text.empty() ? "" : " x ") + sizeText(dim);
    return (text.empty() ? std::string("one number") : text) + ", " + base::dtypeName(spec.dtype);
}

const schema::TensorSpec* specOf(const schema::Split& split, ir::ValueId value)
{
    for (const schema::TensorSpec& spec : split.tensors)
        if (spec.value == value) return &spec;
    return nullptr;
}

std::string inputTable(const schema::Split& split)
{
    std::string text = "| input | shape, dtype |\n|---|---|\n";
    for (const ir::ValueId id : split.inputs)
        if (const schema::TensorSpec* spec = specOf(split, id))
            text += "| `" + plain(spec->name) + "` | " + shapeText(*spec) + " |\n";
    return text;
}

std::string outputTable(const schema::Split& split)
{
    std::string text = "| output | shape, dtype |\n|---|---|\n";
    for (const schema::CodeOutput& output : split.code->outputs)
        if (const schema::TensorSpec* spec = specOf(split, output.value))
            text += "| `" + plain(output.name) + "` | " + shapeText(*spec) + " |\n";
    return text;
}

std::string stageTable(const Request& request, const schema::Split& split)
{
    const analysis::ValueNames names(*request.analysis);
    std::string text = "| method | in batches of | returns |\n|---|---|---|\n";
    for (const schema::CodeLoop& loop : split.code->loops) {
        text += "| `" + loop.method + "` | " + plain(loop.destination) + " | ";
        for (const schema::CodeResult& r : loop.results)
            text += (&r == loop.results.data() ? "" : ", ") + std::string(r.merge ? "contributions to " : "rows of ") +
                    plain(names[r.value]);
        text += " |\n";
    }
    return text;
}

std::string verified(const schema::Verification& v)
{
    std::string text = "The split was compared with the model's own `forward` before it was written: " +
                       std::string(base::nameOf(v.verdict)) +
                       " (number of compared rows: " + std::to_string(v.coverage.chosen - v.coverage.skipped) + ").\n";
    for (const schema::TensorRecord& output : v.outputs)
        text += "- `" + plain(output.name) + "`: largest difference " + realText(output.maxAbsolute) + "\n";
    return text + "\nThe whole record, with the tolerance, is in `schema.json` under `verification`.\n";
}

std::string hashList(const schema::Split& split)
{
    std::string text;
    for (const auto& [what, hash] : split.hashes) text += "- " + plain(what) + " `" + plain(hash) + "`\n";
    return text;
}

}  // namespace

std::string readme(const Request& request, const Bundle& bundle)
{
    const schema::Split& split = bundle.split;
    return "# " + plain(request.model->info().className) + ", split into stages\n\nWritten by " + request.tool +
           ". This folder computes the model's outputs, one stage after the other for the whole graph, "
           "in batches, "
           "with PyTorch and NumPy alone:\n```\npython run.py --data graph.safetensors -o results\n```\n`--data` "
           "takes " +
           graph::dataForms() +
           ", and may be repeated; `--device cuda` and `--batch N` are optional; `python run.py --help` lists all "
           "options.\n\n" +
           inputTable(split) + "\n" + outputTable(split) +
           "\n## Files\n"
           "- `run.py`: the runner; `import run; run.load(folder).inference(x=.., edge_index=..)` from Python\n"
           "- `prologue.py`, `stage_1.py` and so on, `results.py` (only if there are outputs without rows): the "
           "prologue, "
           "the stages and these outputs as `nn.Module`s, to read and to change; their weights are in "
           "`weights.safetensors`\n"
           "- `stages.pt`: all of these modules as one TorchScript module, with the weights, for `torch.jit.load` in "
           "Python and C++\n"
           "- `plan.json`: the plan of the split\n"
           "- `schema.json`: tensors, tables and the arguments of each method; `docs/guides/exporting.md` of "
           "Hopscope "
           "explains it\n\n" +
           stageTable(request, split) + "\n## Verification\n" + verified(request.verification) +
           "\nHashes of the sources:\n" + hashList(split) +
           "\n## Terms\nThe code in this folder may be used, copied, changed and passed on for any purpose, without "
           "conditions and without any warranty (0BSD). The weights and the model remain their owners'.\n";
}

}  // namespace hopscope::exporter

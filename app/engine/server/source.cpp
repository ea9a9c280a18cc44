// model/source: the text around an operator, from the archive or from the file that the archive names.

#include <algorithm>
#include <fstream>
#include <sstream>

#include "loader/schema_text.h"
#include "pipeline/text_file.h"
#include "schema/names.h"
#include "server/documents.h"

namespace hopscope::engine {

namespace {

constexpr std::size_t mostLines = 400, before = 200;
constexpr std::int64_t largestFile = 4 << 20;

using Lines = std::vector<std::string>;

Lines splitLines(const std::string& text)
{
    Lines lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
    return lines;
}

std::string trimmed(const std::string& text)
{
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

json::Value answer(const char* label, const loader::SourceText& source)
{
    const Lines lines = splitLines(source.text);
    const auto at = static_cast<std::size_t>(std::max(source.line - source.firstLine, 0));
    const std::size_t first = lines.size() > mostLines && at > before ? std::min(at - before, lines.size() - 1) : 0;
    std::string text;
    for (std::size_t i = first; i < std::min(lines.size(), first + mostLines); ++i) text += lines[i] + "\n";
    json::Value result;
    result["label"] = label;
    result["file"] = source.file;
    result["line"] = source.line;
    result["first_line"] = source.firstLine + static_cast<int>(first);
    result["text"] = std::move(text);
    return result;
}

// The file named by the archive, if it is on this disk and still has that line.
std::optional<loader::SourceText> localText(const ir::Source& source)
{
    if (source.kind != ir::SourceKind::Python) return std::nullopt;
    const base::Result<std::string> text = pipeline::readText(source.file);
    if (!text || static_cast<std::int64_t>(text->size()) > largestFile) return std::nullopt;
    const Lines lines = splitLines(*text);
    const auto at = static_cast<std::size_t>(source.line) - 1;
    if (source.line < 1 || at >= lines.size()) return std::nullopt;
    if (!source.text.empty() && trimmed(lines[at]) != trimmed(source.text)) return std::nullopt;
    return loader::SourceText{.file = source.file, .text = *text, .firstLine = 1, .line = source.line};
}

json::Value describe(const pipeline::Prepared& prepared, const ir::Op& op)
{
    const ir::Source& source = op.source;
    const loader::SourceTexts texts = loader::findSource(prepared.model, op);
    if (texts.python) return answer("embedded", *texts.python);
    if (const auto local = localText(source)) return answer("local", *local);
    if (texts.torchScript) return answer("torchscript", *texts.torchScript);
    return answer("none", {.file = source.file,
                           .text = source.text,
                           .firstLine = std::max(source.line, 1),
                           .line = std::max(source.line, 1)});
}

bool inModule(const ir::Op& op, const std::string& path)
{
    const std::string own = ir::modulePath(op.modules);
    return own == path || own.starts_with(path + ".");
}

// The requested operator: by its id, or the first one below a module.
const ir::Op* operatorOf(const ir::Program& program, const schema::Names& names, const json::Reader& params)
{
    if (params.has("op")) {
        const auto op = names.findOp(params.get<std::string>("op"));
        return op ? &program.op(*op) : nullptr;
    }
    const auto path = params.get<std::string>("module");
    const auto it = std::ranges::find_if(
        program.ops, [&](const ir::Op& op) { return op.source.kind != ir::SourceKind::None && inModule(op, path); });
    return it == program.ops.end() ? nullptr : &*it;
}

}  // namespace

Outcome sourceAround(const Document& document, const json::Reader& params)
{
    const analysis::Analysis& analysis = document.prepared.analysis;
    const ir::Op* const op = operatorOf(analysis.program, schema::Names(analysis), params);
    if (!params.ok()) return invalid(params);
    if (op == nullptr) return invalid("no such operator or module");
    json::Value result =
        op->source.kind == ir::SourceKind::None ? answer("none", {}) : describe(document.prepared, *op);
    result["schema"] = loader::operatorSchema(*op);
    return result;
}

}  // namespace hopscope::engine

// model/source: the text around an operator, from the archive or from the file that the archive names.

#include <algorithm>
#include <fstream>
#include <sstream>

#include "loader/schema_text.h"
#include "pipeline/files/text_file.h"
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

protocol::SourceLines linesOf(protocol::SourceLabel label, const loader::SourceText& source)
{
    const Lines lines = splitLines(source.text);
    const auto at = static_cast<std::size_t>(std::max(source.line - source.firstLine, 0));
    const std::size_t first = lines.size() > mostLines && at > before ? std::min(at - before, lines.size() - 1) : 0;
    std::string text;
    for (std::size_t i = first; i < std::min(lines.size(), first + mostLines); ++i) text += lines[i] + "\n";
    return {.label = label,
            .file = source.file,
            .line = source.line,
            .firstLine = source.firstLine + static_cast<int>(first),
            .text = std::move(text)};
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

protocol::SourceLines describe(const pipeline::Prepared& prepared, const ir::Op& op)
{
    using enum protocol::SourceLabel;
    const ir::Source& source = op.source;
    if (source.kind == ir::SourceKind::None) return linesOf(None, {});
    const loader::SourceTexts texts = loader::findSource(prepared.model, op);
    if (texts.python) return linesOf(Embedded, *texts.python);
    if (const auto local = localText(source)) return linesOf(Local, *local);
    if (texts.torchScript) return linesOf(TorchScript, *texts.torchScript);
    return linesOf(None, {.file = source.file,
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
const ir::Op* operatorOf(const ir::Program& program, const schema::Names& names, const protocol::ShowSource& query)
{
    if (query.op) {
        const auto op = names.findOp(*query.op);
        return op ? &program.op(*op) : nullptr;
    }
    const auto it = std::ranges::find_if(program.ops, [&](const ir::Op& op) {
        return op.source.kind != ir::SourceKind::None && inModule(op, *query.module);
    });
    return it == program.ops.end() ? nullptr : &*it;
}

}  // namespace

Outcome answer(const protocol::ShowSource& query, const Work& work)
{
    const analysis::Analysis& analysis = work.document.prepared.analysis;
    const ir::Op* const op = operatorOf(analysis.program, schema::Names(analysis), query);
    if (op == nullptr) return invalid("no such operator, or no such module with a known source");
    protocol::SourceLines lines = describe(work.document.prepared, *op);
    lines.schema = loader::operatorSchema(*op);
    return protocol::answerValue(std::move(lines));
}

}  // namespace hopscope::engine

#include "loader/walk/provenance.h"

#include <regex>

namespace hopscope::loader {

namespace {

std::string trimmed(const std::string& text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string lineAt(const torch::jit::SourceRange& range)
{
    const auto& source = range.source();
    return trimmed(source->get_line(source->lineno_for_offset(range.start())).str());
}

// "/home/me/model.py(16): forward"
bool isStackFrame(const std::string& line)
{
    static const std::regex frame(R"(^.*\(\d+\): \S+$)");
    return line.size() < 1000 && std::regex_match(line, frame);
}

ir::Source describe(const torch::jit::SourceRange& range, ir::SourceKind kind)
{
    const auto place = range.file_line_col();
    if (!place) return {};
    const auto& [file, line, column] = *place;
    const std::string text = lineAt(range);
    return {
        .kind = kind, .file = file, .line = static_cast<int>(line), .text = isStackFrame(text) ? std::string() : text};
}

void readSources(const torch::jit::Block& block)
{
    for (const torch::jit::Node* node : block.nodes()) {
        static_cast<void>(sourceOf(*node));
        for (const torch::jit::Block* inner : node->blocks()) readSources(*inner);
    }
}

}  // namespace

ir::Source sourceOf(const torch::jit::Node& node)
{
    const torch::jit::SourceRange range = node.sourceRange();
    if (!range.source()) return {};
    if (const auto python = range.findSourceRangeThatGenerated(); python && python->source()) {
        const ir::Source source = describe(*python, ir::SourceKind::Python);
        if (source.kind != ir::SourceKind::None) return source;
    }
    return describe(range, ir::SourceKind::TorchScript);
}

void readAllSources(const torch::jit::Module& module)
{
    for (const torch::jit::Module& part : module.modules())
        for (const torch::jit::Method& method : part.get_methods()) readSources(*method.graph()->block());
}

namespace {

// Decided by the first operator with a place in Python; nullopt: none has one.
std::optional<bool> madeByTracing(const torch::jit::Graph& graph)
{
    for (const torch::jit::Node* node : graph.nodes()) {
        const torch::jit::SourceRange range = node->sourceRange();
        if (!range.source()) continue;
        const auto python = range.findSourceRangeThatGenerated();
        const std::string line = python && python->source() ? lineAt(*python) : std::string();
        if (!line.empty()) return isStackFrame(line);  // calls of other modules have none
    }
    return std::nullopt;
}

}  // namespace

bool looksTraced(const torch::jit::Graph& graph) { return madeByTracing(graph).value_or(false); }

bool looksTraced(const torch::jit::Module& module)
{
    for (const torch::jit::Module& part : module.modules())
        for (const torch::jit::Method& method : part.get_methods())
            if (const auto traced = madeByTracing(*method.graph())) return *traced;
    // Tracing leaves out the frames of LibTorch's own layers, and this attribute of nn.Module as a type that may be none.
    const c10::TypePtr hook = module.type()->findAttribute("_is_full_backward_hook");
    return hook != nullptr && hook->kind() == c10::TypeKind::OptionalType;
}

}  // namespace hopscope::loader

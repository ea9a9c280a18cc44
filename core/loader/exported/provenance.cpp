#include "loader/exported/provenance.h"

#include <torch/csrc/jit/serialization/source_range_serialization.h>

#include <charconv>
#include <sstream>

namespace hopscope::loader::exported {

namespace {

// Tells that a range is in Python code, as the debug records of TorchScript files do for theirs.
class PythonItself final : public torch::jit::SourceRangeUnpickler {
public:
    std::optional<torch::jit::SourceRange> findSourceRangeThatGenerated(const torch::jit::SourceRange& range) override
    {
        return range;
    }
};

constexpr std::size_t deepestModule = 200;

std::string trimmed(const std::string& text)
{
    const std::size_t first = text.find_first_not_of(" \t\r");
    return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// `  File "/home/me/model.py", line 16, in forward`
std::optional<ir::Source> frameOf(const std::string& line)
{
    constexpr std::string_view before = "File \"", between = "\", line ";
    const std::size_t begin = line.find(before), end = line.rfind(between);
    if (begin == std::string::npos || end == std::string::npos || end < begin + before.size()) return std::nullopt;
    ir::Source source{.kind = ir::SourceKind::Python,
                      .file = line.substr(begin + before.size(), end - begin - before.size()),
                      .line = 0,
                      .text = {}};
    const char* const digits = line.data() + end + between.size();
    const auto [rest, problem] = std::from_chars(digits, line.data() + line.size(), source.line);
    if (problem != std::errc() || source.line < 1) return std::nullopt;
    return source;
}

bool isOfPyTorch(const std::string& file)
{
    return file.find("-packages/torch/") != std::string::npos || file.find("/torch/nn/modules/") != std::string::npos;
}

std::string withoutCount(const std::string& path) { return path.substr(0, path.find('@')); }

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

// Nodes that PyTorch itself adds are in no module.
bool isOfNoModule(const std::string& entry) { return entry.starts_with("_empty_nn_module_stack"); }

// "L__self__convs.0,convs.0,torch_geometric.nn.conv.gcn_conv.GCNConv"
ModuleScope moduleIn(const std::string& entry)
{
    const std::size_t first = std::min(entry.find(','), entry.size());
    const std::size_t second = std::min(entry.find(',', first + 1), entry.size());
    const std::size_t dot = entry.rfind('.');
    const std::size_t name = dot != std::string::npos && dot > second ? dot + 1 : std::min(second + 1, entry.size());
    return {.path = first < entry.size() ? withoutCount(entry.substr(first + 1, second - first - 1)) : std::string(),
            .type = entry.substr(name)};
}

}  // namespace

ir::Source sourceIn(const std::string& stackTrace)
{
    ir::Source innermost, outside;
    bool ofPyTorch = false, expectsText = false;
    for (const std::string& line : split(stackTrace, '\n')) {
        if (const auto frame = frameOf(line)) {
            ofPyTorch = isOfPyTorch(frame->file);
            innermost = *frame;
            if (!ofPyTorch) outside = *frame;
        } else if (expectsText) {
            innermost.text = trimmed(line);
            if (!ofPyTorch) outside.text = innermost.text;
        }
        expectsText = line.find("File \"") != std::string::npos;
    }
    return outside.kind == ir::SourceKind::None ? innermost : outside;
}

torch::jit::SourceRange rangeOf(const ir::Source& source)
{
    static const auto itself = std::make_shared<PythonItself>();
    const auto line = static_cast<std::size_t>(source.line);
    auto text = std::make_shared<torch::jit::Source>(source.text, source.file, line, itself);
    return {std::move(text), 0, source.text.size()};
}

torch::jit::ScopePtr Scopes::of(const std::string& moduleStack)
{
    if (moduleStack.empty() || isOfNoModule(moduleStack)) return m_none;
    torch::jit::ScopePtr scope = m_root;
    std::size_t depth = 0;
    for (std::size_t end = 0; end < moduleStack.size() && depth < deepestModule; ++end, ++depth) {
        const std::size_t begin = end;
        end = std::min(moduleStack.find(';', begin), moduleStack.size());
        torch::jit::ScopePtr& inner = m_known[moduleStack.substr(0, end)];
        if (!inner) inner = pushModule(scope, moduleIn(moduleStack.substr(begin, end - begin)));
        scope = inner;
    }
    return scope;
}

std::vector<ModuleScope> modulesIn(const std::string& moduleStack)
{
    std::vector<ModuleScope> modules;
    for (const std::string& entry : split(moduleStack, ';'))
        if (!isOfNoModule(entry)) modules.push_back(moduleIn(entry));
    return modules;
}

}  // namespace hopscope::loader::exported

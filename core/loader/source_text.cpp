#include <torch/csrc/jit/api/function_impl.h>

#include <functional>
#include <set>

#include "loader/loader.h"
#include "loader/torch_model.h"
#include "loader/walk/provenance.h"

namespace hopscope::loader {

namespace {

using torch::jit::SourceRange;

// Visits the nodes of a module's methods and of the functions that they call, until one matches.
class Search {
public:
    using Found = std::function<bool(const torch::jit::Node&)>;

    explicit Search(Found found) : m_found(std::move(found)) {}

    bool in(const torch::jit::Module& root)
    {
        for (const torch::jit::Module& module : root.modules())
            for (const torch::jit::Method& method : module.get_methods())
                if (in(*method.graph()->block())) return true;
        return false;
    }

private:
    bool in(const torch::jit::Block& block)
    {
        for (const torch::jit::Node* node : block.nodes())
            if (in(*node)) return true;
        return false;
    }

    bool in(const torch::jit::Node& node)
    {
        if (m_found(node)) return true;
        for (const torch::jit::Block* inner : node.blocks())
            if (in(*inner)) return true;
        if (node.kind() != c10::prim::Constant) return false;
        const auto type = node.output()->type()->cast<c10::FunctionType>();
        return type && in(type->function());
    }

    bool in(torch::jit::Function* function)
    {
        auto* const code = torch::jit::tryToGraphFunction(*function);
        return code != nullptr && m_seen.insert(function).second && in(*code->graph()->block());
    }

    Found m_found;
    std::set<const torch::jit::Function*> m_seen;
};

bool sameSource(const ir::Source& a, const ir::Source& b)
{
    return a.kind == b.kind && a.line == b.line && a.file == b.file;
}

std::string_view withoutSpace(std::string_view name) { return name.substr(name.find("::") + 2); }

// "scalar::size" is made of "aten::size", and what writes in place has become functional.
bool sameName(const torch::jit::Node& node, const ir::Op& op)
{
    std::string_view name = withoutSpace(node.kind().toQualString());
    if (name.ends_with('_')) name.remove_suffix(1);
    return name == withoutSpace(op.name);
}

std::optional<SourceText> textOf(const SourceRange& range)
{
    const auto place = range.file_line_col();
    if (!place || !range.source()) return std::nullopt;
    const auto& [file, line, column] = *place;
    SourceText text;
    text.file = file;
    text.text = range.source()->text_str().str();
    text.firstLine = static_cast<int>(range.source()->starting_line_no());
    text.line = static_cast<int>(line);
    return text;
}

}  // namespace

SourceTexts findSource(const Model& model, const ir::Op& op)
{
    SourceTexts found;
    if (model.info().exported) return found;  // each node has its own line, which the operator has
    const auto textsOf = [&](const torch::jit::Node& node) {
        found.torchScript = textOf(node.sourceRange());
        const auto python = node.sourceRange().findSourceRangeThatGenerated();
        if (python && op.source.kind == ir::SourceKind::Python) found.python = textOf(*python);
        // Tracing leaves call stacks, which are no text.
        if (found.python && looksTraced(*node.owningGraph())) found.python.reset();
        return true;
    };
    const auto sameLine = [&](const torch::jit::Node& node) { return sameSource(sourceOf(node), op.source); };
    // One line of Python makes several operators, each with a line of TorchScript.
    Search exactly([&](const auto& node) { return sameName(node, op) && sameLine(node) && textsOf(node); });
    Search roughly([&](const auto& node) { return sameLine(node) && textsOf(node); });
    if (!exactly.in(model.impl().module)) roughly.in(model.impl().module);
    return found;
}

std::optional<base::TensorView> leafTensor(const Walk& walk, const ir::Value& value)
{
    const auto it = walk.tensors->byValue.find(value.raw.valid() ? value.raw.index : value.id.index);
    if (it == walk.tensors->byValue.end() || it->second.layout() != at::kStrided) return std::nullopt;
    return toView(it->second);
}

}  // namespace hopscope::loader

#include "loader/walk/allow_list.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "loader/bounds.h"
#include "loader/walk/provenance.h"
#include "loader/walk/safety.h"
#include "operators/names.h"
#include "operators/operators.h"

namespace hopscope::loader {

namespace {

using torch::jit::Node;

bool isTensors(const c10::TypePtr& type)
{
    return type->isSubtypeOf(*c10::TensorType::get()) || type->isSubtypeOf(*c10::ListType::ofTensors()) ||
           type->isSubtypeOf(*c10::OptionalType::create(c10::TensorType::get()));
}

bool isContainer(const c10::TypePtr& type)
{
    return type->kind() == c10::TypeKind::ListType || type->kind() == c10::TypeKind::DictType;
}

// Whether the operator computes with tensors; lists and dictionaries of tensors only hold them.
bool onTensors(const Node& node)
{
    const auto isTensor = [](const torch::jit::Value* value) { return isTensors(value->type()); };
    if (!node.inputs().empty() && isContainer(node.inputs()[0]->type()) &&
        operators::isPlain(node.kind().toQualString()))
        return false;
    return std::ranges::any_of(node.inputs(), isTensor) || std::ranges::any_of(node.outputs(), isTensor);
}

std::optional<base::Error> refusalOf(const Node& node)
{
    const std::string name = node.kind().toQualString();
    if (operators::isInstruction(name) || operators::isToNumber(name)) return {};
    return unknownOperator(name, onTensors(node));
}

class Blocker {
public:
    explicit Blocker(const torch::jit::Module& module)
    {
        for (const auto& part : module.named_modules())
            if (part.value.type()->name()) m_paths.try_emplace(part.value.type()->name()->qualifiedName(), part.name);
    }

    void block(const torch::jit::Function& function, torch::jit::GraphFunction& code)
    {
        const auto path = m_paths.find(function.qualname().prefix());
        block(*code.graph()->block(), path == m_paths.end() ? std::string() : path->second);
    }

    bool composites = false;  // operators that consist of others were found

private:
    void block(torch::jit::Block& inside, const std::string& path)
    {
        for (auto it = inside.nodes().begin(); it != inside.nodes().end();) {
            Node& node = **it;
            ++it;  // the node may go
            for (torch::jit::Block* inner : node.blocks()) block(*inner, path);
            const std::string name = node.kind().toQualString();
            composites = composites || (!operators::known(name) && isComposite(name));
            if (const auto refusal = refusalOf(node)) replace(node, *refusal, path);
        }
    }

    static std::string sentence(const Node& node, const base::Error& refusal, const std::string& path)
    {
        ir::Op op;
        op.name = node.kind().toQualString();
        op.source = sourceOf(node);
        std::istringstream parts(path);
        for (std::string part; std::getline(parts, part, '.');)
            op.modules.push_back({.name = part, .type = "", .call = 0});
        base::Error placed = refusal;
        placed.where = ir::describeOp(op);
        return refusalMark + base::describe(placed);
    }

    static void replace(Node& node, const base::Error& refusal, const std::string& path)
    {
        torch::jit::Graph& graph = *node.owningGraph();
        const torch::jit::WithInsertPoint here(&node);
        torch::jit::Value* text = graph.insertConstant(sentence(node, refusal, path));
        torch::jit::Value* kind = graph.insertConstant(c10::IValue());
        graph.insertNode(graph.create(c10::prim::RaiseException, {text, kind}, 0));
        for (torch::jit::Value* output : node.outputs()) {
            Node* nothing = graph.insertNode(graph.createUninitialized(output->type()));
            output->replaceAllUsesWith(nothing->output());
        }
        node.destroy();
    }

    std::map<std::string, std::string> m_paths;  // of modules, by the name of their class
};

}  // namespace

bool blockUnknownOperators(torch::jit::Module& module)
{
    Blocker blocker(module);
    for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions())
        if (torch::jit::GraphFunction* const code = torch::jit::tryToGraphFunction(*function))
            blocker.block(*function, *code);
    return blocker.composites;
}

PartFn partsThatMayRun()
{
    return [](const torch::jit::Operator& part, torch::jit::Stack& stack) {
        const std::string& name = part.schema().name();
        const bool fine = operators::isInstruction(name) || operators::isToNumber(name) || name == "aten::_conj";
        const auto refusal = fine ? std::nullopt : unknownOperator(name, true);
        TORCH_CHECK(!refusal, refusalMark, base::describe(*refusal));
        boundedOperation(part)(stack);
    };
}

}  // namespace hopscope::loader

#include "loader/devices.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

namespace hopscope::loader {

namespace {

using c10::IValue;
using torch::jit::Node;
using Counts = std::map<std::string, int>;

const c10::Symbol kDevice = c10::Symbol::fromQualString("aten::device");
const c10::Symbol kCuda = c10::Symbol::fromQualString("aten::cuda");

// Tensors of the meta device have no numbers: that is no place to compute, and remains.
bool stays(const c10::Device& device) { return device.is_cpu() || device.is_meta(); }

class Rewriter {
public:
    void rewrite(torch::jit::Block& block)
    {
        for (auto it = block.nodes().begin(); it != block.nodes().end();) {
            Node& node = **it;
            ++it;  // the node may go
            for (torch::jit::Block* inner : node.blocks()) rewrite(*inner);
            if (node.hasAttribute(c10::attr::Subgraph)) rewrite(*node.g(c10::attr::Subgraph)->block());
            rewrite(node);
        }
    }

    void rewriteAttributes(const torch::jit::Module& part)
    {
        const auto object = part._ivalue();
        for (std::size_t i = 0; i < object->slots().size(); ++i) {
            const IValue& value = object->getSlot(i);
            if (!value.isDevice() || stays(value.toDevice())) continue;
            ++m_counts[value.toDevice().str()];
            object->setSlot(i, c10::Device(c10::kCPU));
        }
    }

    [[nodiscard]] const Counts& counts() const { return m_counts; }

private:
    void rewrite(Node& node)
    {
        if (node.kind() == c10::prim::Constant) rewriteConstant(node);
        else if (node.kind() == kDevice) rewriteName(node);
        else if (node.kind() == kCuda) rewriteMove(node);
    }

    void rewriteConstant(Node& node)
    {
        const std::optional<IValue> value = torch::jit::toIValue(node.output());
        if (!value || !value->isDevice() || stays(value->toDevice())) return;
        m_counts[value->toDevice().str()] += uses(node);
        node.s_(c10::attr::value, "cpu");
    }

    // torch.device("cuda:0"), torch.device("cuda", 0), or a device of a name that only a run knows.
    void rewriteName(Node& node)
    {
        std::string name;
        for (const torch::jit::Value* input : node.inputs()) {
            const std::optional<IValue> part = torch::jit::toIValue(input);
            if (part && part->isString()) name += part->toStringRef();
            if (part && part->isInt()) name += ":" + std::to_string(part->toInt());
        }
        if (name == "cpu" || name == "meta") return;
        if (!name.empty()) m_counts[name] += uses(node);
        const torch::jit::WithInsertPoint here(&node);
        replace(node, node.owningGraph()->insertConstant(c10::Device(c10::kCPU), node.sourceRange(), node.scope()));
    }

    // x.cuda()
    void rewriteMove(Node& node)
    {
        ++m_counts["cuda"];
        replace(node, node.input(0));
    }

    // LibTorch keeps one constant for all places that name the same device.
    static int uses(const Node& node) { return static_cast<int>(node.output()->uses().size()); }

    static void replace(Node& node, torch::jit::Value* other)
    {
        node.output()->replaceAllUsesWith(other);
        node.destroy();
    }

    Counts m_counts;
};

}  // namespace

std::map<std::string, int> rewriteDevices(torch::jit::Module& module)
{
    Rewriter rewriter;
    for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions())
        if (torch::jit::GraphFunction* const code = torch::jit::tryToGraphFunction(*function))
            rewriter.rewrite(*code->graph()->block());
    for (const torch::jit::Module& part : module.modules()) rewriter.rewriteAttributes(part);
    return rewriter.counts();
}

}  // namespace hopscope::loader

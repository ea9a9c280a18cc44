#include "loader/exported/module_tree.h"

#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <cctype>

namespace hopscope::loader::exported {

using torch::jit::Module;

namespace {

std::string identifier(std::string name)
{
    const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    const bool fits =
        !name.empty() && std::ranges::all_of(name, plain) && !std::isdigit(static_cast<unsigned char>(name[0]));
    return fits ? name : "Module";
}

}  // namespace

ModuleTree::ModuleTree(std::map<std::string, std::string> types) : m_types(std::move(types)), m_root(made("")) {}

Module ModuleTree::made(const std::string& path) const
{
    const auto type = m_types.find(path);
    const std::string name = identifier(type == m_types.end() ? "" : type->second);
    return {c10::QualifiedName("__torch__." + name), m_unit, true};
}

torch::jit::Value* ModuleTree::add(const std::string& name, const at::Tensor& tensor, bool isBuffer,
                                   torch::jit::Graph& graph, torch::jit::Value* self)
{
    Module module = m_root;
    std::size_t begin = 0;
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
        const std::string part = name.substr(begin, dot - begin);
        if (!module.hasattr(part)) module.register_module(part, made(name.substr(0, dot)));
        module = module.attr(part).toModule();
        self = graph.insertGetAttr(self, part);
        begin = dot + 1;
    }
    const std::string last = name.substr(begin);
    if (!module.hasattr(last)) module.register_parameter(last, tensor, isBuffer);
    return graph.insertGetAttr(self, last);
}

Module ModuleTree::finish(const std::shared_ptr<torch::jit::Graph>& graph, c10::FunctionSchema schema)
{
    torch::jit::Function* const forward =
        m_unit->create_function(c10::QualifiedName(*m_root.type()->name(), "forward"), graph);
    forward->setSchema(std::move(schema));
    m_root.type()->addMethod(forward);
    return m_root;
}

}  // namespace hopscope::loader::exported

#include "export/script_module.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include "export/size_checks.h"
#include "loader/save_module.h"
#include "loader/tensors.h"

namespace hopscope::exporter {

namespace {

// The names that the code uses without having assigned them.
class CodeNames : public torch::jit::Resolver {
public:
    std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string& name, torch::jit::GraphFunction&,
                                                           const torch::jit::SourceRange&) override
    {
        if (name == "torch") return std::make_shared<torch::jit::BuiltinModule>("aten");
        if (name == "annotate") return torch::jit::SpecialFormValue::create(torch::jit::prim::annotate);
        return nullptr;
    }
};

base::Result<torch::jit::Module> compile(const std::string& source, const schema::Code& code,
                                         const base::TensorMap& weights)
{
    try {
        torch::jit::Module module("__torch__.Stages");
        for (const schema::CodeWeight& w : code.weights)
            module.register_buffer(w.attribute, loader::toTensor(weights.at(w.name)).contiguous());
        if (source.find(std::string("self.") + ofAPart) != std::string::npos)
            module.register_attribute(ofAPart, c10::BoolType::get(), false);
        module.define(source, std::make_shared<CodeNames>());
        module.eval();
        return module;
    } catch (const std::exception& e) {
        return base::fail(base::ErrorCode::Internal,
                          std::string("LibTorch does not compile the exported code: ") + e.what(),
                          "this is a bug in Hopscope; hopscope-engine run needs no export");
    }
}

}  // namespace

base::Status saveScript(const std::string& source, const schema::Code& code, const base::TensorMap& weights,
                        const std::string& path)
{
    const auto module = compile(source, code, weights);
    return module ? loader::saveModule(*module, path) : base::forward(module);
}

}  // namespace hopscope::exporter

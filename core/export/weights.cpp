#include "export/weights.h"

#include "loader/tensors.h"

namespace hopscope::exporter {

namespace {

// Small constants are literals of the program.
base::TensorView literal(const ir::Value& value)
{
    const at::Tensor t = at::tensor(value.literal, at::TensorOptions().dtype(at::kDouble));
    return loader::toView(t.to(loader::scalarType(value.dtype)).reshape(value.shape).contiguous());
}

}  // namespace

base::Result<base::TensorMap> weightsOf(const loader::Walk& walk, const analysis::Analysis& analysis,
                                        const schema::Code& code)
{
    base::TensorMap weights;
    for (const schema::CodeWeight& weight : code.weights) {
        const ir::Value& value = analysis.program.value(weight.value);
        const std::optional<base::TensorView> found = loader::leafTensor(walk, value);
        if (!found && value.literal.empty())
            return base::fail(base::ErrorCode::Unsupported,
                              "export cannot write " + weight.name + ", which is not a dense tensor",
                              "register it as a dense matrix: " + weight.name + ".to_dense()");
        weights[weight.name] = found ? *found : literal(value);
    }
    return weights;
}

}  // namespace hopscope::exporter

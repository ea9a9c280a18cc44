#include "executor/dense.h"

#include <string_view>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastColumns = 16, leastOutputs = 8, leastWeights = 1024;

using Pointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, std::string_view,
                             c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);

// The operator that LibTorch's compiler uses, which is not part of its C++ interface.
const std::optional<c10::TypedOperatorHandle<Pointwise>>& pointwise()
{
    static const auto found = []() -> std::optional<c10::TypedOperatorHandle<Pointwise>> {
        const auto schema = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
        if (!schema || !schema->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
        return schema->typed<Pointwise>();
    }();
    return found;
}

bool isFloats(const at::Tensor& t) { return t.layout() == at::kStrided && t.is_cpu() && t.scalar_type() == at::kFloat; }

bool suits(const at::Tensor& t) { return isFloats(t) && t.is_contiguous(); }

bool isMatrix(const at::Tensor& t)
{
    return isFloats(t) && t.dim() == 2 && (t.is_contiguous() || t.t().is_contiguous());
}

at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias)
{
    const auto added = bias.defined() ? std::optional(bias) : std::nullopt;
    return pointwise()->call(x, weight, added, "none", c10::List<std::optional<at::Scalar>>(), std::nullopt);
}

}  // namespace

bool prefersOneDnn(const DenseShape& shape)
{
    return shape.columns >= leastColumns && shape.outputs >= leastOutputs &&
           shape.columns * shape.outputs >= leastWeights;
}

std::optional<DenseShape> denseShape(const ir::Program& program, const ir::Op& op)
{
    const bool transposed = op.name == "aten::linear", added = op.name == "aten::addmm";
    if (!transposed && !added && op.name != "aten::mm" && op.name != "aten::matmul") return std::nullopt;
    const ir::ValueId* const weight = op.args.at(added ? 2 : 1).value();
    if (!weight || program.value(*weight).shape.size() != 2) return std::nullopt;
    const std::vector<std::int64_t>& shape = program.value(*weight).shape;
    return transposed ? DenseShape{shape[1], shape[0]} : DenseShape{shape[0], shape[1]};
}

std::optional<at::Tensor> linearByOneDnn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias)
{
    if (!suits(x) || !isMatrix(weight) || x.dim() < 2 || x.numel() == 0 || x.size(-1) != weight.size(1))
        return std::nullopt;
    if (!prefersOneDnn({weight.size(1), weight.size(0)}) || !pointwise()) return std::nullopt;
    if (bias.defined() && (!suits(bias) || bias.dim() != 1 || bias.size(0) != weight.size(0))) return std::nullopt;
    // A row on its own is summed up in another order.
    if (x.numel() == x.size(-1)) {
        std::vector<std::int64_t> shape = x.sizes().vec();
        shape.back() = weight.size(0);
        return product(x.view({1, -1}).repeat({2, 1}), weight, bias).narrow(0, 0, 1).view(shape);
    }
    return product(x, weight, bias);
}

}  // namespace hopscope::executor

#include "executor/dense.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace hopscope::executor {

namespace {

constexpr std::int64_t leastColumns = 16, leastOutputs = 8, leastWeights = 1024;
constexpr std::int64_t leastStep = 64;  // rows; tiles of nodes are made of as many

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

// Rows up to a multiple of an eighth of their order of magnitude: eight numbers of rows between n and 2 n.
std::int64_t stepped(std::int64_t rows)
{
    const auto octave = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rows)));
    const std::int64_t step = std::max(octave / 8, leastStep);
    return (rows + step - 1) / step * step;
}

// oneDNN prepares a kernel for each number of rows that it is given, which takes as long as many products, and sums up a
// single row in another order than several: rows of edges, whose number is another one in each tile, are followed by rows
// whose products nobody reads. In the memory behind them, where there is some.
at::Tensor inSteps(const at::Tensor& x)
{
    const std::int64_t rows = x.size(0), columns = x.size(1), wanted = stepped(rows);
    if (wanted == rows) return x;
    const auto there = static_cast<std::int64_t>(x.storage().nbytes() / sizeof(float)) - x.storage_offset();
    if (there >= wanted * columns) return x.as_strided({wanted, columns}, {columns, 1});
    at::Tensor longer = at::empty({wanted, columns}, x.options());
    longer.narrow(0, 0, rows).copy_(x);
    longer.narrow(0, rows, wanted - rows).zero_();
    return longer;
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
    const std::int64_t rows = x.numel() / x.size(-1);
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(0);
    return product(inSteps(x.view({rows, -1})), weight, bias).narrow(0, 0, rows).view(shape);
}

}  // namespace hopscope::executor

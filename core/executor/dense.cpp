#include "executor/dense.h"

#include <string_view>

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace hopscope::executor {

namespace {

constexpr std::int64_t vectorColumns = 16;
constexpr std::int64_t leastDepth = 64;

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

bool suits(const at::Tensor& t) { return t.is_cpu() && t.scalar_type() == at::kFloat && t.is_contiguous(); }

}  // namespace

bool prefersOneDnn(std::int64_t k, std::int64_t n) { return k >= leastDepth && n % vectorColumns > vectorColumns / 2; }

std::optional<at::Tensor> linearByOneDnn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias)
{
    if (x.dim() != 2 || weight.dim() != 2 || x.size(0) == 0 || !prefersOneDnn(x.size(1), weight.size(0)))
        return std::nullopt;
    if (!suits(x) || !suits(weight) || (bias.defined() && !suits(bias)) || !pointwise()) return std::nullopt;
    const auto added = bias.defined() ? std::optional(bias) : std::nullopt;
    return pointwise()->call(x, weight, added, "none", c10::List<std::optional<at::Scalar>>(), std::nullopt);
}

}  // namespace hopscope::executor

#include "executor/calls/dense.h"

#include <string_view>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace hopscope::executor {

namespace {

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

thread_local bool marked = false;

// Whether these are rows of a table in a file or in scratch memory. All batches but the last have as many of them.
bool ofTable(const at::Tensor& x) { return !x.storage().resizable(); }

// Rows of edges, whose number differs from tile to tile, and single rows are padded with rows whose products are not
// read. Products have room for the padding; other rows are copied.
std::int64_t wantedRows(const at::Tensor& x)
{
    const std::int64_t rows = x.size(0);
    if (ofTable(x) && rows > 1) return rows;
    return marked ? markedRows(rows) : rowsInSteps(rows);
}

at::Tensor inSteps(const at::Tensor& x)
{
    const std::int64_t rows = x.size(0), wanted = wantedRows(x);
    if (wanted == rows) return x;
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape[0] = wanted;
    const auto held = static_cast<std::int64_t>(x.storage().nbytes() / sizeof(float));
    if (held == x.stride(0) * wanted && x.storage_offset() == 0) return x.as_strided(shape, x.strides());
    at::Tensor longer = at::empty(shape, x.options());
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

MarkedProducts::MarkedProducts() { marked = true; }
MarkedProducts::~MarkedProducts() { marked = false; }

std::optional<at::Tensor> linearByOneDnn(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias)
{
    if (!suits(x) || !isMatrix(weight) || x.dim() < 2 || x.numel() == 0 || x.size(-1) != weight.size(1))
        return std::nullopt;
    if (!prefersOneDnn({weight.size(1), weight.size(0)}) || !pointwise()) return std::nullopt;
    if (bias.defined() && (!suits(bias) || bias.dim() != 1 || bias.size(0) != weight.size(0))) return std::nullopt;
    return product(inSteps(x), weight, bias).narrow(0, 0, x.size(0));
}

}  // namespace hopscope::executor

#include "loader/walk/sharing.h"

#include <algorithm>

namespace hopscope::loader {

namespace {

using operators::Aliasing;

bool isAny(const at::Tensor& result, const std::vector<at::Tensor>& operands)
{
    return std::ranges::any_of(operands, [&](const at::Tensor& t) { return storageOf(t) == storageOf(result); });
}

bool isFirst(const at::Tensor& result, const std::vector<at::Tensor>& operands)
{
    return !operands.empty() && storageOf(operands[0]) == storageOf(result);
}

// Row-major without gaps, extents of 1 included, whose strides is_contiguous() does not look at.
bool inOrder(const at::Tensor& tensor)
{
    std::int64_t expected = 1;
    for (std::int64_t d = tensor.dim() - 1; d >= 0; --d) {
        if (tensor.stride(d) != expected) return false;
        expected *= tensor.size(d);
    }
    return expected > 0;
}

std::optional<std::string> contradiction(Aliasing claim, const at::Tensor& result,
                                         const std::vector<at::Tensor>& operands)
{
    const bool first = isFirst(result, operands);
    switch (claim) {
    case Aliasing::Fresh:
    case Aliasing::Copy:
        if (isAny(result, operands)) return "gives a view of an operand where memory of its own is expected";
        break;
    case Aliasing::Same:
    case Aliasing::View:
        if (!first) return "gives no view of its first operand, where one is expected";
        break;
    case Aliasing::SameDtype:
    case Aliasing::SameIfDense:
    case Aliasing::ViewIfDense:
        if (!first && isAny(result, operands)) return "gives a view of an operand other than the first";
        break;
    case Aliasing::Unfollowed: break;
    }
    const bool whole = claim != Aliasing::View && claim != Aliasing::ViewIfDense && claim != Aliasing::Unfollowed;
    if (first && whole && (result.sizes() != operands[0].sizes() || result.dtype() != operands[0].dtype()))
        return "gives its first operand with a different shape or dtype, where the same is expected";
    return std::nullopt;
}

}  // namespace

const void* storageOf(const at::Tensor& tensor)
{
    return tensor.defined() && tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

std::optional<std::string> contradiction(const operators::Operator& claim, const std::vector<at::Tensor>& operands,
                                         const std::vector<at::Tensor>& results)
{
    if (!operands.empty() && !storageOf(operands[0])) return std::nullopt;
    for (const at::Tensor& result : results) {
        if (!storageOf(result)) continue;
        if (auto why = contradiction(claim.traits.aliasing, result, operands)) return why;
    }
    return std::nullopt;
}

bool sharingVaries(const at::Tensor& operand, Layout layout)
{
    if (!storageOf(operand) || layout.strided) return true;
    if (inOrder(operand)) return false;
    return layout.counted || std::ranges::any_of(operand.sizes(), [](std::int64_t extent) { return extent < 2; });
}

}  // namespace hopscope::loader

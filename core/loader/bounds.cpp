#include "loader/bounds.h"

#include <ATen/ATen.h>

#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <map>

namespace hopscope::loader {

namespace {

using torch::jit::Stack;

void within(const at::Tensor& numbers, std::int64_t least, std::int64_t most, const char* what)
{
    if (numbers.numel() == 0) return;
    const auto smallest = numbers.min().item<std::int64_t>(), largest = numbers.max().item<std::int64_t>();
    TORCH_CHECK_INDEX(smallest >= least && largest <= most, what, " has numbers from ", smallest, " to ", largest,
                      ", but only ", least, " to ", most, " are allowed");
}

void offsetsWithin(const at::Tensor& offsets, std::int64_t entries, const char* what)
{
    within(offsets, 0, entries, what);
    if (offsets.numel() > 1)
        TORCH_CHECK_INDEX((offsets.diff(1, -1) >= 0).all().item<bool>(), what, " must not descend");
}

void checkUncompressed(const Stack& arguments)
{
    offsetsWithin(arguments[0].toTensor(), arguments[1].toTensor().size(-1), "crow_indices");
}

void checkCompressed(const Stack& arguments)
{
    within(arguments[0].toTensor(), 0, arguments[1].toInt() - 1, "the input");
}

void checkAliased(const Stack& arguments)
{
    const at::Tensor& self = arguments[0].toTensor();
    const std::vector<std::int64_t> size = arguments[1].toIntVector(), stride = arguments[2].toIntVector();
    TORCH_CHECK_INDEX(size.size() == stride.size(), "size and stride must have the same length");
    std::int64_t last = self.storage_offset();
    for (std::size_t d = 0; d < size.size(); ++d) {
        TORCH_CHECK_INDEX(size[d] >= 0 && stride[d] >= 0, "size and stride must not be negative");
        std::int64_t reach = 0;
        const bool tooFar = size[d] > 0 && (c10::mul_overflows(size[d] - 1, stride[d], &reach) ||
                                            c10::add_overflows(last, reach, &last));
        TORCH_CHECK_INDEX(!tooFar, "size and stride reach beyond all memory");
    }
    const auto bytes = static_cast<std::int64_t>(self.storage().nbytes());
    const bool empty = std::ranges::find(size, 0) != size.end();
    TORCH_CHECK_INDEX(empty || last < bytes / static_cast<std::int64_t>(self.itemsize()),
                      "size and stride reach beyond the memory of the operand");
}

void checkSparse(const Stack& arguments)
{
    const at::Tensor& indices = arguments[0].toTensor();
    const std::vector<std::int64_t> size = arguments[2].toIntVector();
    TORCH_CHECK_INDEX(indices.dim() == 2 && indices.size(0) <= static_cast<std::int64_t>(size.size()),
                      "indices must be a matrix with at most as many rows as the size has dimensions");
    for (std::int64_t d = 0; d < indices.size(0); ++d)
        within(indices[d], 0, size[static_cast<std::size_t>(d)] - 1, "indices");
}

// The operator itself checks lengths unless `unsafe` is set, but never offsets.
void checkSegments(const Stack& arguments)
{
    constexpr std::size_t offsets = 4, axis = 5, unsafe = 6;
    TORCH_CHECK_INDEX(!arguments[unsafe].toBool(),
                      "segment_reduce with unsafe=True would leave its segments unchecked");
    if (!arguments[offsets].isTensor()) return;
    offsetsWithin(arguments[offsets].toTensor(), arguments[0].toTensor().size(arguments[axis].toInt()), "offsets");
}

// Repeats that cancel each other out, such as 3000 and -2995, are written before the operator meets the negative ones.
void checkRepeats(const Stack& arguments)
{
    const bool alone = arguments.size() == 2;  // without rows that are repeated
    const c10::IValue& repeats = arguments[alone ? 0 : 1];
    if (repeats.isTensor())
        TORCH_CHECK_INDEX((repeats.toTensor() >= 0).all().item<bool>(), "repeats must not be negative");
}

// Looks at the arguments of one call, in the order of the operator's schema.
using Check = void (*)(const Stack& arguments);

Check checkOf(const std::string& name)
{
    static const std::map<std::string, Check> checks{{"aten::_convert_indices_from_coo_to_csr", checkCompressed},
                                                     {"aten::_convert_indices_from_csr_to_coo", checkUncompressed},
                                                     {"aten::_reshape_alias", checkAliased},
                                                     {"aten::repeat_interleave", checkRepeats},
                                                     {"aten::_sparse_coo_tensor_unsafe", checkSparse},
                                                     {"aten::segment_reduce", checkSegments}};
    const auto found = checks.find(name);
    return found == checks.end() ? nullptr : found->second;
}

}  // namespace

torch::jit::Operation boundedOperation(const torch::jit::Operator& op)
{
    const Check check = checkOf(op.schema().name());
    if (check == nullptr) return op.getOperation();
    return [check, run = op.getOperation()](Stack& stack) mutable {
        check(stack);
        run(stack);
    };
}

}  // namespace hopscope::loader

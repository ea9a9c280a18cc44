#include <algorithm>

#include "analysis/roles/int_column.h"
#include "analysis/roles/row_copy.h"
#include "analysis/roles/sample.h"

namespace hopscope::analysis {

namespace {

// The offsets of compressed rows, followed by those of rows without entries.
base::TensorView withEmptyRows(const base::TensorView& offsets, std::int64_t rows)
{
    const IntColumn numbers(offsets);
    base::OwnedTensor out = base::allocate(offsets.dtype, {rows + 1});
    const auto size = static_cast<std::int64_t>(base::itemSize(offsets.dtype));
    for (std::int64_t i = 0; i <= rows; ++i)
        storeInteger(out.bytes + i * size, offsets.dtype, numbers[std::min(i, numbers.size() - 1)]);
    return out.view;
}

}  // namespace

base::TensorMap withWholeMatrices(base::TensorMap sample, const base::TensorMap& inputs)
{
    bool any = false;
    for (auto& [key, view] : sample) {
        const bool compressed = key.ends_with(".csr_size");
        if (!compressed && !key.ends_with(".coo_size")) continue;
        view = inputs.at(key);
        any = true;
        const auto offsets = sample.find(key.substr(0, key.size() - 4) + "crow");
        if (compressed && offsets != sample.end()) offsets->second = withEmptyRows(offsets->second, IntColumn(view)[0]);
    }
    return any ? std::move(sample) : base::TensorMap{};
}

}  // namespace hopscope::analysis

#include "executor/rows/row_numbers.h"

#include <limits>

#include <ATen/Parallel.h>

#include "base/units.h"
#include "executor/failure.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t grain = 1 << 15;
constexpr std::int64_t mostNarrow = std::numeric_limits<std::int32_t>::max();

}  // namespace

at::ScalarType numberType(std::int64_t most) { return most <= mostNarrow ? at::kInt : at::kLong; }

std::int64_t numberBytes(std::int64_t most) { return most <= mostNarrow ? 4 : 8; }

at::Tensor narrowed(const at::Tensor& numbers, std::int64_t most, const RowBuffer& buffer)
{
    at::Tensor out = buffer({numbers.numel()}, numberType(most));
    if (out.scalar_type() == at::kLong) return out.copy_(numbers);
    const std::int64_t* const from = numbers.const_data_ptr<std::int64_t>();
    auto* const to = out.mutable_data_ptr<std::int32_t>();
    at::parallel_for(0, numbers.numel(), grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t k = first; k < last; ++k) to[k] = static_cast<std::int32_t>(from[k]);
    });
    return out;
}

// A map holds each row's number + 1.
void checkLocalRows(std::int64_t rows)
{
    if (rows < mostNarrow) return;
    raise(base::ErrorCode::Resources,
          "a batch has " + base::formatCount(static_cast<double>(rows)) + " rows of one table, but at most " +
              base::formatCount(static_cast<double>(mostNarrow - 1)) + " can be numbered",
          "choose a smaller --batch");
}

}  // namespace hopscope::executor

#include "executor/rows/pick_rows.h"

#include <ATen/Parallel.h>

#include "kernels/segment.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t grain = 1 << 11;

}  // namespace

at::Tensor pageable(at::IntArrayRef shape, at::ScalarType dtype)
{
    return at::empty(shape, at::TensorOptions().dtype(dtype));
}

at::Tensor pickRows(const at::Tensor& table, std::int64_t dim, const at::Tensor& rows, const RowBuffer& buffer)
{
    std::vector<std::int64_t> shape = table.sizes().vec();
    shape[static_cast<std::size_t>(dim)] = rows.numel();
    at::Tensor out = buffer(shape, table.scalar_type());
    const bool dense = dim == 0 && table.size(0) > 0 && table.select(0, 0).is_contiguous();
    if (!dense) {
        at::index_select_out(out, table, dim, rows);
        return out;
    }
    const auto rowBytes = static_cast<std::int64_t>(table.element_size()) * table.select(0, 0).numel();
    const auto* from = static_cast<const std::byte*>(table.const_data_ptr());
    auto* to = static_cast<std::byte*>(out.mutable_data_ptr());
    const std::int64_t stride = table.stride(0) * static_cast<std::int64_t>(table.element_size());
    const kernels::Index numbers = rows.scalar_type() == at::kInt ? kernels::Index(rows.const_data_ptr<std::int32_t>())
                                                                  : rows.const_data_ptr<std::int64_t>();
    at::parallel_for(0, rows.numel(), grain, [&](std::int64_t first, std::int64_t last) {
        kernels::gatherRowsCpu(from, stride, numbers, to, rowBytes, first, last);
    });
    return out;
}

}  // namespace hopscope::executor

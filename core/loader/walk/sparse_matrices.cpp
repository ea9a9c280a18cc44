#include "loader/walk/sparse_inputs.h"

namespace hopscope::loader {

using c10::IValue;

Item SparseInputs::add(const at::Tensor& matrix, const std::string& path)
{
    const bool csr = matrix.layout() == at::kSparseCsr;
    if (!csr && matrix.layout() != at::kSparse)
        m_location.refuse("the sparse layout of '" + path + "' is not supported");
    const std::string prefix = path + (csr ? ".csr_" : ".coo_");
    const auto input = [&](const char* name, const IValue& value) {
        return Item(value, m_recorder.input(prefix + name, value));
    };
    Parts parts;
    if (csr) {
        parts.crow = input("crow", matrix.crow_indices());
        parts.col = input("col", matrix.col_indices());
    } else {
        parts.indices = input("indices", matrix._indices());
    }
    parts.values = input("values", csr ? matrix.values() : matrix._values());
    for (int d = 0; d < 2; ++d) parts.sizes[d] = input(d == 0 ? "size.0" : "size.1", matrix.size(d));
    if (csr)
        parts.indices = m_calls.record("aten::_convert_indices_from_csr_to_coo", "",
                                       {parts.crow, parts.col, Item(IValue(false)), Item(IValue(false))});
    const Item sizes = boxed(c10::ListType::ofInts(), {parts.sizes[0], parts.sizes[1]});
    Item made = m_calls.record("aten::sparse_coo_tensor", "indices_size",
                               {parts.indices, parts.values, sizes, Item(), Item(), Item(), Item(), Item()});
    made.concrete = matrix;
    m_parts[made.value] = std::move(parts);
    return made;
}

const Item* SparseInputs::part(const std::string& name, const Item& item) const
{
    const auto it = item.isTensor() ? m_parts.find(item.value) : m_parts.end();
    if (it == m_parts.end()) return nullptr;
    const Parts& parts = it->second;
    const Item* part = nullptr;
    if (name == "aten::values" || name == "aten::_values") part = &parts.values;
    if (name == "aten::indices" || name == "aten::_indices") part = &parts.indices;
    if (name == "aten::crow_indices") part = &parts.crow;
    if (name == "aten::col_indices") part = &parts.col;
    return part && part->isTensor() ? part : nullptr;
}

const Item* SparseInputs::size(ir::ValueId matrix, std::int64_t dim) const
{
    const auto it = m_parts.find(matrix);
    return it == m_parts.end() ? nullptr : &it->second.sizes[dim];
}

}  // namespace hopscope::loader

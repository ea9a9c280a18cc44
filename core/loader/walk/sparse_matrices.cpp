#include "loader/walk/sparse_matrices.h"

#include <set>

namespace hopscope::loader {

using c10::IValue;

Item SparseMatrices::add(const at::Tensor& matrix, const std::string& path)
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
    return record(std::move(parts), matrix);
}

Item SparseMatrices::record(Parts parts, const at::Tensor& concrete)
{
    if (parts.crow.isTensor())
        parts.indices = m_calls.record("aten::_convert_indices_from_csr_to_coo", "",
                                       {parts.crow, parts.col, Item(IValue(false)), Item(IValue(false))});
    std::vector<Item> sizes{parts.sizes[0], parts.sizes[1]};
    for (std::int64_t d = 2; d < concrete.dim(); ++d) sizes.emplace_back(IValue(concrete.size(d)));
    Item made = m_calls.record("aten::sparse_coo_tensor", "indices_size",
                               {parts.indices, parts.values, boxed(c10::ListType::ofInts(), std::move(sizes)), Item(),
                                Item(), Item(), Item(), Item()});
    made.concrete = concrete;
    know(made.value, std::move(parts));
    return made;
}

Item SparseMatrices::compressed(Parts parts)
{
    const at::Tensor crow = parts.crow.concrete.toTensor(), col = parts.col.concrete.toTensor(),
                     values = parts.values.concrete.toTensor();
    std::vector<std::int64_t> size{parts.sizes[0].concrete.toInt(), parts.sizes[1].concrete.toInt()};
    for (std::int64_t d = 1; d < values.dim(); ++d) size.push_back(values.size(d));
    if (crow.dim() != 1 || crow.numel() != size[0] + 1)
        m_location.refuseThrown("crow_indices must have one number more than the matrix has rows");
    // Recording looks at all other numbers.
    return record(std::move(parts),
                  at::_sparse_csr_tensor_unsafe(crow, col, values, size, values.options().layout(at::kSparseCsr)));
}

const Item* SparseMatrices::part(const std::string& name, const Item& item) const
{
    const auto it = item.isTensor() ? m_parts.find(item.value) : m_parts.end();
    if (it == m_parts.end()) return nullptr;
    const Parts& parts = it->second;
    const Item* part = nullptr;
    if (name == "aten::values" || name == "aten::_values") part = &parts.values;
    if (name == "aten::indices" || name == "aten::_indices") part = &parts.indices;
    if (name == "aten::crow_indices") part = &parts.crow;
    if (name == "aten::col_indices") part = &parts.col;
    if (part && !parts.crow.isTensor() && item.concrete.toTensor().layout() == at::kSparseCsr)
        m_location.refuse("this line reads the parts of a COO matrix that forward has converted to CSR",
                          "convert it before the model, and pass it as CSR");
    return part && part->isTensor() ? part : nullptr;
}

const Item* SparseMatrices::size(ir::ValueId matrix, std::int64_t dim) const
{
    const auto it = m_parts.find(matrix);
    return it == m_parts.end() ? nullptr : &it->second.sizes[dim];
}

// Merged entries keep only the sizes of the matrix.
void SparseMatrices::merged(ir::ValueId matrix, ir::ValueId other)
{
    const auto it = m_parts.find(other);
    if (it == m_parts.end() || matrix == other) return;
    const Parts& parts = it->second;
    know(matrix, {.indices = {}, .crow = {}, .col = {}, .values = {}, .sizes = {parts.sizes[0], parts.sizes[1]}});
    const auto earlier = m_merged.find(other);
    m_merged[matrix] = earlier == m_merged.end() ? other : earlier->second;
}

std::optional<Item> SparseMatrices::sum(const torch::jit::Node& node, const std::vector<Item>& args)
{
    static const std::set<std::string> names{"aten::_sparse_sum", "aten::sum"};
    if (!names.contains(node.kind().toQualString()) || !args[0].isTensor()) return {};
    const auto first = m_merged.find(args[0].value);
    const auto it = m_parts.find(first == m_merged.end() ? args[0].value : first->second);
    if (it == m_parts.end() || args[0].concrete.toTensor().dim() != 2) return {};
    const auto argument = [&](const char* name) {
        const auto index = node.schema().argumentIndexWithName(name);
        return index ? args[static_cast<std::size_t>(*index)] : Item();
    };
    const Item keepdim = argument("keepdim"), dims = argument("dim"), dtype = argument("dtype");
    if (keepdim.concrete.isBool() && keepdim.concrete.toBool()) return {};
    const at::ScalarType own = it->second.values.concrete.toTensor().scalar_type();
    const auto summed = at::isIntegralType(own, true) ? at::kLong : own;
    const Item type = dtype.isNone() ? Item(IValue(static_cast<std::int64_t>(summed))) : dtype;
    const Item no{IValue(false)};
    const Item values = m_calls.record("aten::to", "dtype", {it->second.values, type, no, no, Item()});
    if (!dims.box || dims.box->items.size() != 1) return m_calls.record("aten::sum", "", {values, Item()});
    return sumAlong(it->second, values, at::maybe_wrap_dim(dims.box->items[0].concrete.toInt(), 2));
}

Item SparseMatrices::sumAlong(const Parts& entries, const Item& values, std::int64_t dim)
{
    const Item first{IValue(std::int64_t{0})};
    const Item kept = m_calls.record("aten::select", "int", {entries.indices, first, Item(IValue(1 - dim))});
    const Item zeros = m_calls.record(
        "aten::new_zeros", "",
        {values, boxed(c10::ListType::ofInts(), {entries.sizes[1 - dim]}), Item(), Item(), Item(), Item()});
    return m_calls.record("aten::index_add", "", {zeros, first, kept, values, Item(IValue(std::int64_t{1}))});
}

}  // namespace hopscope::loader

#include "loader/walk/tensor_operators.h"

namespace hopscope::loader {

using c10::IValue;

std::vector<Item> TensorOperators::evaluate(const Node& node, const std::vector<Item>& args)
{
    if (auto result = special(node, args)) return {std::move(*result)};
    if (node.kind() == c10::Symbol::fromQualString("aten::embedding_bag")) return m_bags.evaluate(node.schema(), args);
    if (auto results = m_composites.evaluate(node.getOperator(), args)) return std::move(*results);
    std::vector<Item> results = m_calls.record(node.getOperator(), args);
    if (results.size() != node.outputs().size())
        m_location.refuse(std::string("unexpected results of ") + node.kind().toQualString());
    return results;
}

std::optional<Item> TensorOperators::special(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    if (args.empty()) return {};
    if (name == "aten::requires_grad_" || name == "aten::detach_") return args[0];
    const bool conjugates = name == "aten::conj" || name == "aten::conj_physical";
    if (conjugates && !args[0].concrete.toTensor().is_complex()) return args[0];
    if (name == "aten::conj") return m_calls.record("aten::conj_physical", "", args);
    if (name == "prim::data") return m_calls.record("aten::detach", "", {args[0]});
    if (name == "prim::tolist" || name == "aten::tolist")
        m_location.refuse("a whole tensor is read as Python numbers", "keep it as a tensor");
    if (auto result = cast(node, args)) return result;
    if (const Item* part = m_sparse.part(name, args[0])) return *part;
    if (auto weight = joinedWeights(name, args)) return weight;
    if (auto matrix = sparse(node, args)) return matrix;
    return scatterSum(node, args);
}

// A concatenation of weights along their rows is a weight. Recommenders look up users and items in one numbering.
std::optional<Item> TensorOperators::joinedWeights(const std::string& name, const std::vector<Item>& args)
{
    if (name != "aten::cat" || !args[0].box || args[0].box->items.size() < 2) return {};
    if (args[1].dynamicNumber() || args[1].concrete.toInt() != 0) return {};
    std::string joined;
    std::vector<at::Tensor> parts;
    for (const Item& part : args[0].box->items) {
        const ir::Value& weight = m_recorder.program().value(part.value);
        const at::Tensor& tensor = part.concrete.toTensor();
        if (weight.origin != ir::Origin::Parameter || m_recorder.written(tensor) || tensor.dim() == 0) return {};
        joined += (joined.empty() ? "" : "+") + weight.name;
        parts.push_back(tensor);
    }
    const at::Tensor rows = at::cat(parts).detach();
    return Item(rows, m_recorder.parameter(joined, rows));
}

// Matrices that forward makes.
std::optional<Item> TensorOperators::sparse(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    const auto& arguments = node.schema().arguments();
    const bool sized = args.size() > 3 && arguments[2].name() == "values" && arguments[3].name() == "size";
    const bool layout = args.size() > 5 && arguments[5].name() == "layout" && args[5].concrete.isInt();
    const bool rows =
        name == "aten::sparse_csr_tensor" || (name == "aten::sparse_compressed_tensor" && layout &&
                                              static_cast<at::Layout>(args[5].concrete.toInt()) == at::kSparseCsr);
    if (sized && rows) return compressed(args[0], args[1], args[2], args[3]);
    if (name == "aten::to_sparse_csr" && args[0].isTensor() && m_sparse.size(args[0].value, 0))
        return Item(m_calls.executeNode(node, args)[0], args[0].value);
    if (name == "aten::coalesce" || name == "aten::_coalesced_") {
        Item matrix = m_calls.record(node.getOperator(), args)[0];
        m_sparse.merged(matrix.value, args[0].value);
        return matrix;
    }
    if (auto total = m_sparse.sum(node, args)) return total;
    if (name == "aten::to_dense" && args[0].isTensor() && args[0].concrete.toTensor().layout() == at::kStrided &&
        args[1].isNone())
        return args[0];
    if (name != "aten::sparse_coo_tensor" || args.size() < 3 || arguments[2].name() != "size") return {};
    Item matrix = m_calls.record(node.getOperator(), args)[0];
    const bool plain = args[2].box && args[2].box->items.size() >= 2;
    if (plain)
        m_sparse.know(matrix.value, {.indices = args[0],
                                     .crow = {},
                                     .col = {},
                                     .values = args[1],
                                     .sizes = {args[2].box->items[0], args[2].box->items[1]}});
    return matrix;
}

// Tracing makes constants of the sizes. There is one row less than there are offsets, or LibTorch refuses the matrix, and as
// many columns where the two constants are the same.
Item TensorOperators::compressed(const Item& crow, const Item& col, const Item& values, const Item& size)
{
    const auto fixed = [](const Item& number) { return number.concrete.isInt() && !number.value.valid(); };
    if (!size.box || size.box->items.size() < 2) m_location.refuse("a sparse matrix needs two sizes");
    const Item &rows = size.box->items[0], &columns = size.box->items[1];
    SparseMatrices::Parts parts{.indices = {}, .crow = crow, .col = col, .values = values, .sizes = {rows, columns}};
    const bool square = fixed(rows) && fixed(columns) && rows.concrete.toInt() == columns.concrete.toInt();
    if (fixed(rows)) parts.sizes[0] = m_numbers.arithmetic("scalar::sub", m_numbers.sizeOf(crow, 0), Item(IValue(1)));
    if (square) parts.sizes[1] = parts.sizes[0];
    return m_sparse.compressed(std::move(parts));
}

// Every form of `to` casts only: the device is the executing one.
std::optional<Item> TensorOperators::cast(const Node& node, const std::vector<Item>& args)
{
    const std::string name = node.kind().toQualString();
    if (name != "aten::to" && name != "aten::cpu") return {};
    if (!args[0].isTensor()) return {};
    std::optional<at::ScalarType> type;
    Item copy{IValue(false)}, format;
    const auto& arguments = node.schema().arguments();
    for (std::size_t i = 1; i < args.size(); ++i) {
        const std::string& argument = arguments[i].name();
        if (argument == "dtype" && args[i].concrete.isInt())
            type = static_cast<at::ScalarType>(args[i].concrete.toInt());
        if (argument == "other") type = args[i].concrete.toTensor().scalar_type();
        if (argument == "copy") copy = args[i];
        if (argument == "memory_format") format = args[i];
        if (argument == "layout" && args[i].concrete.isInt() && args[i].concrete.toInt() != 0)
            m_location.refuse("casts to a sparse layout are not supported");
    }
    const auto own = args[0].concrete.toTensor().scalar_type();
    const Item dtype{IValue(static_cast<std::int64_t>(type.value_or(own)))};
    return m_calls.record("aten::to", "dtype", {args[0], dtype, Item(IValue(false)), copy, format});
}

// torch_scatter's sum(src, index, dim, out, dim_size) is recorded as operators of LibTorch.
std::optional<Item> TensorOperators::scatterSum(const Node& node, const std::vector<Item>& args)
{
    if (std::string_view(node.kind().toQualString()) != "torch_scatter::scatter_sum" || !args[3].isNone()) return {};
    const Item &src = args[0], &index = args[1];
    const std::int64_t rank = src.concrete.toTensor().dim();
    std::int64_t dim = m_numbers.fixedInt(args[2]);
    if (dim < 0) dim += rank;
    const auto along = scatterIndex(index, src, dim);
    if (!along) return {};
    const Item count = scatterSize(index, args[4]);
    std::vector<Item> sizes;
    for (std::int64_t d = 0; d < rank; ++d) sizes.push_back(d == dim ? count : m_numbers.sizeOf(src, d));
    const Item zeros = m_calls.record("aten::new_zeros", "",
                                      {src, boxed(c10::ListType::ofInts(), sizes), Item(), Item(), Item(), Item()});
    return m_calls.record("aten::scatter_add", "", {zeros, Item(IValue(dim)), *along, src});
}

// The index with the shape of src: a vector is broadcast along `dim`. Nothing if their ranks do not match.
std::optional<Item> TensorOperators::scatterIndex(const Item& index, const Item& src, std::int64_t dim)
{
    const std::int64_t rank = src.concrete.toTensor().dim(), indexRank = index.concrete.toTensor().dim();
    if (indexRank == rank) return index;
    if (indexRank != 1 || rank < 1) return {};
    std::vector<Item> shape(static_cast<std::size_t>(rank), Item(IValue(1)));
    shape[static_cast<std::size_t>(dim)] = Item(IValue(-1));
    const Item column = m_calls.record("aten::view", "", {index, boxed(c10::ListType::ofInts(), shape)});
    return m_calls.record("aten::expand_as", "", {column, src});
}

// The number of rows of the result: as given, or one more than the largest index.
Item TensorOperators::scatterSize(const Item& index, const Item& given)
{
    if (!given.isNone()) return given;
    const Item largest = m_calls.record("aten::max", "", {index});
    return m_numbers.arithmetic(
        "scalar::add", m_numbers.elementOf(largest, largest.concrete.toTensor().item().toLong()), Item(IValue(1)));
}

}  // namespace hopscope::loader

#include "analysis/rows/sparse_products.h"

#include "analysis/rows/chain.h"
#include "analysis/rows/linear.h"

namespace hopscope::analysis {

namespace {

using ir::Arg;
using ir::ArgList;
using Rewritten = std::optional<base::Result<std::vector<ValueId>>>;

// The operator that makes a matrix of indices, values and a size.
const ir::Op& makerOf(const RuleContext& c, ValueId matrix)
{
    return c.builder.analysis.program.op(c.value(matrix).producer);
}

// Whether the matrix has compressed rows: one that is made of COO indices has merged its duplicates.
bool keepsEntries(const RuleContext& c, ValueId matrix)
{
    const ir::Value& indices = c.value(*makerOf(c, matrix).args.at(0).value());
    return indices.origin == ir::Origin::Op &&
           c.builder.analysis.program.op(indices.producer).name == "aten::_convert_indices_from_csr_to_coo";
}

class Product {
public:
    Product(Emitter& emitter, const RuleContext& c, ValueId matrix, ValueId x)
        : m_chain(emitter, c.op),
          m_c(c),
          m_maker(makerOf(c, matrix)),
          m_x(x),
          m_shape(c.outputs[0].shape),
          m_dtype(c.outputs[0].dtype)
    {}

    Rewritten reduced(const std::string& way)
    {
        const ValueId values = *m_maker.args.at(1).value();
        m_entries = m_c.extent(values, 0);
        const auto rows = numberOfRows();
        if (!rows) return std::nullopt;
        const std::vector<std::int64_t> wide = {m_entries, m_shape[1]};
        const ValueId gathered =
            m_chain.call("index_select", {Arg{m_x}, Arg{std::int64_t{0}}, Arg{column(1)}}, wide, m_dtype);
        const ValueId messages = m_chain.call("mul.Tensor", {Arg{gathered}, Arg{upright(values)}}, wide, m_dtype);
        const ValueId table = zeros({*rows, Arg{m_shape[1]}}, m_shape);
        return m_chain.done(way == "mean" ? mean(messages, table, values, *rows) : extreme(messages, table, way));
    }

private:
    // The matrix's own size, or, if that is a constant of the file, that of the square matrix's other operand.
    std::optional<Arg> numberOfRows()
    {
        const ArgList* size = m_maker.args.at(2).list();
        if (size && size->at(0).value()) return size->at(0);
        const bool square =
            m_c.of(m_maker.outputs[0]).sparseRow.target == m_c.of(m_maker.outputs[0]).sparseColumn.target;
        if (!square) return std::nullopt;
        return Arg{m_chain.number("scalar::size", {Arg{m_x}, Arg{std::int64_t{0}}}, m_shape[0])};
    }

    ValueId column(std::int64_t end)
    {
        const ValueId indices = *m_maker.args.at(0).value();
        return m_chain.call("select.int", {Arg{indices}, Arg{std::int64_t{0}}, Arg{end}}, {m_entries},
                            m_c.value(indices).dtype);
    }

    ValueId zeros(ArgList size, const std::vector<std::int64_t>& shape)
    {
        return m_chain.call("new_zeros", {Arg{m_x}, Arg{std::move(size)}}, shape, m_dtype);
    }

    ValueId upright(ValueId v)
    {
        return m_chain.call("unsqueeze", {Arg{v}, Arg{std::int64_t{1}}}, {m_c.extent(v, 0), 1}, m_c.value(v).dtype);
    }

    ValueId mean(ValueId messages, ValueId table, ValueId values, const Arg& rows)
    {
        const Arg one{std::int64_t{1}}, first{std::int64_t{0}};
        const ValueId row = column(0);
        const ValueId ones =
            m_chain.call("full_like", {Arg{values}, one, Arg{}, Arg{}, Arg{}, Arg{}, Arg{}}, {m_entries}, m_dtype);
        const ValueId counts = m_chain.call(
            "index_add", {Arg{zeros({rows}, {m_shape[0]})}, first, Arg{row}, Arg{ones}, one}, {m_shape[0]}, m_dtype);
        const ValueId divisor = m_chain.call("clamp", {Arg{counts}, one, Arg{}}, {m_shape[0]}, m_dtype);
        const ValueId total =
            m_chain.call("index_add", {Arg{table}, first, Arg{row}, Arg{messages}, one}, m_shape, m_dtype);
        const ValueId tall = m_chain.call("unsqueeze", {Arg{divisor}, one}, {m_shape[0], 1}, m_dtype);
        return m_chain.call("div.Tensor", {Arg{total}, Arg{tall}}, m_shape, m_dtype);
    }

    ValueId extreme(ValueId messages, ValueId table, const std::string& way)
    {
        const ValueId row = upright(column(0));
        const ValueId wide =
            m_chain.call("expand_as", {Arg{row}, Arg{messages}}, {m_entries, m_shape[1]}, m_c.value(row).dtype);
        return m_chain.call("scatter_reduce.two",
                            {Arg{table}, Arg{std::int64_t{0}}, Arg{wide}, Arg{messages}, Arg{way}, Arg{false}}, m_shape,
                            m_dtype);
    }

    Chain m_chain;
    const RuleContext& m_c;
    const ir::Op m_maker;  // a copy: emitting moves the original
    const ValueId m_x;
    const std::vector<std::int64_t> m_shape;
    const base::DType m_dtype;
    std::int64_t m_entries = 0;
};

}  // namespace

namespace {

bool isNumber(const RuleContext& c, const char* factor, std::int64_t wanted)
{
    const double* const real = std::get_if<double>(&c.arg(factor).data);
    return real ? *real == static_cast<double>(wanted) : c.integer(factor, 1) == wanted;
}

ValueId scaled(Chain& chain, const RuleContext& c, const char* factor, ValueId v)
{
    if (isNumber(c, factor, 1)) return v;
    const std::vector<std::int64_t> shape = c.shape(v);
    return chain.call("mul.Scalar", {Arg{v}, c.arg(factor)}, shape, c.outputs[0].dtype);
}

// addmm(x, adj, h, beta, alpha) as x * beta + (adj @ h) * alpha; x does not count where beta is 0, not even a NaN.
Rewritten sumWithProduct(Emitter& emitter, const RuleContext& c)
{
    const ValueId matrix = c.tensor("mat1"), addend = c.tensor("self");
    if (c.name != "addmm" || !matrix.valid() || !c.of(matrix).sparse) return std::nullopt;
    const auto& shape = c.outputs[0].shape;
    const base::DType dtype = c.outputs[0].dtype;
    Chain chain(emitter, c.op);
    const ValueId product = chain.call("mm", {Arg{matrix}, Arg{c.tensor("mat2")}}, shape, dtype);
    if (!product.valid()) return chain.done(product);
    const ValueId second = scaled(chain, c, "alpha", product);
    const ValueId first = scaled(chain, c, "beta", addend);
    if (isNumber(c, "beta", 0)) return chain.done(second);
    return chain.done(chain.call("add.Tensor", {Arg{first}, Arg{second}, Arg{std::int64_t{1}}}, shape, dtype));
}

}  // namespace

Rewritten decomposeSparseProducts(Emitter& emitter, const RuleContext& c)
{
    if (auto sum = sumWithProduct(emitter, c)) return sum;
    static const std::map<std::string, std::string> ways{
        {"mean", "mean"}, {"amax", "amax"}, {"max", "amax"}, {"amin", "amin"}, {"min", "amin"}};
    const auto way = ways.find(c.text("reduce"));
    const ValueId matrix = c.tensor("sparse"), x = c.tensor("dense");
    if (c.name != "_sparse_mm" || way == ways.end() || !matrix.valid() || !c.of(matrix).sparse) return std::nullopt;
    const bool fits = c.rank(x) == 2 && c.dim(x, 0) == c.of(matrix).sparseColumn.target;
    return fits && keepsEntries(c, matrix) ? Product(emitter, c, matrix, x).reduced(way->second) : std::nullopt;
}

}  // namespace hopscope::analysis

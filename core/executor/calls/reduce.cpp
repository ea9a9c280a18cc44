#include "executor/calls/reduce.h"

#include <limits>

#include "executor/failure.h"
#include "executor/memory.h"
#include "loader/tensors.h"

namespace hopscope::executor {

using analysis::Reduction;

Reducer::Reducer(const analysis::Analysis& analysis, ir::OpId op)
    : m_op(analysis.program.op(op)),
      m_info(analysis.info(op)),
      m_result(analysis.program.value(m_op.outputs.at(0)))
{}

bool Reducer::isScatter() const
{
    switch (m_info.reduction) {
    case Reduction::ScatterSum:
    case Reduction::ScatterMean:
    case Reduction::ScatterMax:
    case Reduction::ScatterMin: return true;
    default: return false;
    }
}

at::ScalarType Reducer::wide() const
{
    const auto type = loader::scalarType(m_result.dtype);
    return c10::isFloatingType(type) ? at::kDouble : type == at::kBool ? at::kLong : type;
}

at::Tensor Reducer::operand(const CallContext& context, int arg) const
{
    return context.operand({arg, -1}, *m_op.args.at(static_cast<std::size_t>(arg)).value());
}

int Reducer::argumentNamed(std::initializer_list<const char*> names) const
{
    for (std::size_t i = 0; i < m_op.argInfo.size(); ++i)
        for (const char* name : names)
            if (m_op.argInfo[i].name == name) return static_cast<int>(i);
    return -1;
}

Contribution Reducer::contribute(Caller& caller, const CallContext& context, std::int64_t rows) const
{
    if (rows == 0) return {};
    if (isScatter()) return scatter(context);
    if (m_info.reduction == Reduction::FunctionSum)
        return {.value = caller.call(m_op, context).at(0).to(wide()),
                .spread = {},
                .count = static_cast<double>(rows),
                .empty = false};
    return moments(operand(context, 0));
}

Contribution Reducer::moments(const at::Tensor& x) const
{
    const std::vector<std::int64_t> dims(m_info.reducedDims.begin(), m_info.reducedDims.end());
    double count = 1;
    for (std::int64_t d : dims) count *= static_cast<double>(x.size(d));
    const bool keep = m_info.keepDim;
    switch (m_info.reduction) {
    case Reduction::Sum:
    case Reduction::Mean: return {.value = x.sum(dims, keep, wide()), .spread = {}, .count = count, .empty = false};
    case Reduction::Max: return {.value = x.amax(dims, keep), .spread = {}, .count = count, .empty = false};
    case Reduction::Min: return {.value = x.amin(dims, keep), .spread = {}, .count = count, .empty = false};
    case Reduction::Norm2: {
        const at::Tensor y = x.to(at::kDouble);
        return {.value = (y * y).sum(dims, keep), .spread = {}, .count = count, .empty = false};
    }
    case Reduction::Var:
    case Reduction::Std: {
        const at::Tensor y = x.to(at::kDouble);
        const at::Tensor mean = y.mean(dims, true), centred = y - mean;
        return {.value = mean, .spread = (centred * centred).sum(dims, true), .count = count, .empty = false};
    }
    default: break;
    }
    raise(base::ErrorCode::Internal, "unknown reduction", {}, ir::describeOp(m_op));
}

namespace {

// Row numbers for each element of `values`, as scatter requires them.
at::Tensor elementIndex(const at::Tensor& index, const at::Tensor& values, std::int64_t dim)
{
    if (index.dim() == values.dim()) return index.expand_as(values);
    std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
    shape[static_cast<std::size_t>(dim)] = index.numel();
    return index.reshape(shape).expand_as(values);
}

double emptyExtremum(Reduction reduction)
{
    return reduction == Reduction::ScatterMax ? -std::numeric_limits<double>::infinity()
                                              : std::numeric_limits<double>::infinity();
}

}  // namespace

// Which operand holds the slot of each row, and the dimension that it counts along.
Reducer::SlotIndex Reducer::slotIndex() const
{
    const int single = argumentNamed({"index"});
    if (single >= 0)
        return {.slot = {single, -1}, .value = *m_op.args[static_cast<std::size_t>(single)].value(), .dim = m_info.dim};
    const int list = argumentNamed({"indices"});
    require(list >= 0, "a scatter has no index", ir::describeOp(m_op));
    const ir::ArgList& items = *m_op.args[static_cast<std::size_t>(list)].list();
    for (int i = 0; i < static_cast<int>(items.size()); ++i)
        if (const ir::ValueId* v = items[static_cast<std::size_t>(i)].value())
            return {.slot = {list, i}, .value = *v, .dim = i};
    raise(base::ErrorCode::Internal, "a scatter has no index", {}, ir::describeOp(m_op));
}

Contribution Reducer::scatter(const CallContext& context) const
{
    const SlotIndex index = slotIndex();
    const auto dim = static_cast<std::size_t>(index.dim);
    const at::Tensor raw = context.operand(index.slot, index.value);
    at::Tensor rows = operand(context, argumentNamed({"src", "source", "values", "value"})).to(wide());
    if (raw.dim() == 1) {  // index_put broadcasts its values over the rows
        std::vector<std::int64_t> full = m_result.shape;
        full[dim] = raw.numel();
        rows = rows.expand(full);
    }
    std::vector<std::int64_t> shape = rows.sizes().vec();
    shape[dim] = operand(context, 0).size(index.dim);
    return scatterInto(at::zeros(shape, rows.options()), index.dim, elementIndex(raw, rows, index.dim), rows);
}

Contribution Reducer::scatterInto(const at::Tensor& zeros, std::int64_t dim, const at::Tensor& where,
                                  const at::Tensor& rows) const
{
    if (m_info.reduction == Reduction::ScatterSum)
        return {.value = zeros.scatter_add(dim, where, rows), .spread = {}, .count = 1, .empty = false};
    const at::Tensor one = at::ones({1}, rows.options().dtype(at::kDouble));
    const at::Tensor hits = zeros.to(at::kDouble).scatter_add(dim, where, one.expand_as(rows));
    if (m_info.reduction == Reduction::ScatterMean)
        return {.value = zeros.scatter_add(dim, where, rows), .spread = hits, .count = 1, .empty = false};
    const at::Tensor start = at::full_like(zeros, emptyExtremum(m_info.reduction));
    const char* how = m_info.reduction == Reduction::ScatterMax ? "amax" : "amin";
    return {.value = start.scatter_reduce(dim, where, rows, how, true), .spread = hits, .count = 1, .empty = false};
}

Contribution Reducer::merged(const Contribution& next) const
{
    if (next.empty) return m_total;
    if (m_total.empty) return next;
    Contribution sum = m_total;
    const double n = m_total.count, m = next.count;
    switch (m_info.reduction) {
    case Reduction::Max:
    case Reduction::ScatterMax: sum.value = at::maximum(m_total.value, next.value); break;
    case Reduction::Min:
    case Reduction::ScatterMin: sum.value = at::minimum(m_total.value, next.value); break;
    case Reduction::Var:
    case Reduction::Std: {
        const at::Tensor delta = next.value - m_total.value;
        sum.spread = m_total.spread + next.spread + delta * delta * (n * m / (n + m));
        sum.value = m_total.value + delta * (m / (n + m));
        break;
    }
    default: sum.value = m_total.value + next.value; break;
    }
    if (isScatter() && next.spread.defined()) sum.spread = m_total.spread + next.spread;
    sum.count = n + m;
    return sum;
}

void Reducer::moveTo(at::Device device)
{
    for (at::Tensor* const t : {&m_total.value, &m_total.spread})
        if (t->defined()) *t = t->to(device);
}

std::int64_t Reducer::heldBytes() const
{
    std::int64_t bytes = 0;
    for (const at::Tensor& t : {m_total.value, m_total.spread}) {
        if (!t.defined() || !t.has_storage()) continue;
        const auto size = static_cast<std::int64_t>(t.storage().nbytes());
        bytes += t.is_cpu() ? countedBytes(size) : countedOnGpu(size);
    }
    return bytes;
}

std::optional<ir::Slot> Reducer::initialSlot() const
{
    if (!isScatter()) return std::nullopt;
    return ir::Slot{0, -1};
}

at::Tensor Reducer::emptyResult(at::Device device) const
{
    const bool sum = m_info.reduction == Reduction::Sum || m_info.reduction == Reduction::FunctionSum ||
                     m_info.reduction == Reduction::Norm2;
    const bool mean =
        m_info.reduction == Reduction::Mean || m_info.reduction == Reduction::Var || m_info.reduction == Reduction::Std;
    if (!sum && !mean)
        raise(base::ErrorCode::Input, "a maximum or minimum over zero rows is undefined", {}, ir::describeOp(m_op));
    const double value = sum ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    return at::full(m_result.shape, value,
                    at::TensorOptions().dtype(loader::scalarType(m_result.dtype)).device(device));
}

at::Tensor Reducer::variance() const
{
    at::Tensor v = m_total.spread / (m_total.count - m_info.correction);
    if (m_info.reduction == Reduction::Std) v = v.sqrt();
    return v.reshape(m_result.shape);
}

at::Tensor Reducer::finishScatter(const at::Tensor& initial) const
{
    const at::Tensor start = initial.to(m_total.value.scalar_type());
    if (m_info.reduction == Reduction::ScatterSum) return start + m_total.value;
    const at::Tensor hit = m_total.spread > 0;
    if (m_info.reduction == Reduction::ScatterMean) {
        const at::Tensor sum = m_info.includeSelf ? m_total.value + start : m_total.value;
        const at::Tensor count = m_info.includeSelf ? m_total.spread + 1 : m_total.spread;
        return at::where(hit, sum / count, start);
    }
    if (!m_info.includeSelf) return at::where(hit, m_total.value, start);
    return m_info.reduction == Reduction::ScatterMax ? at::maximum(m_total.value, start)
                                                     : at::minimum(m_total.value, start);
}

at::Tensor Reducer::finish(const at::Tensor& initial, at::Device device) const
{
    const auto type = loader::scalarType(m_result.dtype);
    if (m_total.empty) return isScatter() ? initial : emptyResult(device);
    switch (m_info.reduction) {
    case Reduction::Mean: return (m_total.value / m_total.count).to(type);
    case Reduction::Var:
    case Reduction::Std: return variance().to(type);
    case Reduction::Norm2: return m_total.value.sqrt().to(type);
    default: return (isScatter() ? finishScatter(initial) : m_total.value).to(type);
    }
}

}  // namespace hopscope::executor

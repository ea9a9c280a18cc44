#include "executor/program/fuse.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "executor/failure.h"
#include "operators/operators.h"

namespace hopscope::executor {

using analysis::OpKind;
using analysis::Use;

std::vector<std::int64_t> rowShape(const analysis::Analysis& analysis, ir::ValueId value)
{
    std::vector<std::int64_t> shape = analysis.program.value(value).shape;
    const int d = analysis.rowDim(value);
    if (d >= 0) shape.erase(shape.begin() + d);
    return shape;
}

bool isSparseProduct(const std::vector<analysis::OperandRows>& operands)
{
    return std::ranges::find(operands, Use::SparseMatrix, &analysis::OperandRows::use) != operands.end();
}

ir::ValueId entriesOf(const ir::Program& program, ir::ValueId matrix)
{
    const ir::Value& value = program.value(matrix);
    if (value.origin != ir::Origin::Op)
        raise(base::ErrorCode::Internal, "a sparse matrix has no entries", {}, value.name);
    const ir::Op& op = program.op(value.producer);
    const bool made = op.name.find("sparse_co") != std::string::npos;
    return made ? *op.args.at(1).value() : entriesOf(program, *op.args.at(0).value());
}

std::optional<double> fillNumber(const ir::Program& program, ir::ValueId id)
{
    const ir::Value& value = program.value(id);
    if (value.origin != ir::Origin::Op) return std::nullopt;
    const ir::Op& op = program.op(value.producer);
    const operators::Operator::Traits& traits = operators::of(op.name).traits;
    if (traits.fill == operators::Fill::Zero) return 0;
    if (traits.fill == operators::Fill::One) return 1;
    if (traits.fill == operators::Fill::None) return std::nullopt;
    return op.args.at(static_cast<std::size_t>(traits.fillArgument)).number();
}

namespace {

std::int64_t product(const std::vector<std::int64_t>& shape)
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Weights of one number per row, or per row and leading dimensions ("heads"): the number of heads, or 0 if it is neither.
std::int64_t headsOf(const std::vector<std::int64_t>& weight, const std::vector<std::int64_t>& message)
{
    if (weight.size() != message.size()) return 0;
    std::size_t shared = 0;
    while (shared < weight.size() && weight[shared] == message[shared]) ++shared;
    for (std::size_t i = shared; i < weight.size(); ++i)
        if (weight[i] != 1) return 0;
    return product({weight.begin(), weight.begin() + static_cast<std::ptrdiff_t>(shared)});
}

bool isIndex(const ir::Op& op, ir::Slot slot)
{
    const auto a = static_cast<std::size_t>(slot.arg);
    return a < op.argInfo.size() && op.argInfo[a].name.starts_with("ind");
}

bool isTrue(const ir::Arg* arg, bool otherwise)
{
    const bool* b = arg ? std::get_if<bool>(&arg->data) : nullptr;
    return b ? *b : otherwise;
}

bool isOne(const ir::Arg* arg)
{
    if (!arg || arg->none()) return true;
    return arg->number() == 1;
}

}  // namespace

Fuser::Fuser(const analysis::Analysis& analysis, const plan::Loop& loop, const std::vector<StepUse>& uses,
             const Families& families)
    : m_analysis(analysis),
      m_loop(loop),
      m_uses(uses),
      m_doubles(families.gpu)
{
    for (int i = 0; i < static_cast<int>(loop.steps.size()); ++i) {
        for (ir::ValueId v : op(i).outputs) m_producers[{v, loop.steps[static_cast<std::size_t>(i)].rows}] = i;
        for (const auto& operand : uses[static_cast<std::size_t>(i)].operands)
            ++m_counts[{operand.value, operand.rows}];
    }
    for (const plan::Access& w : loop.writes) ++m_counts[{w.value, w.rows}];
    for (const plan::Step& r : loop.reductions)
        ir::forEachOperand(analysis.program.op(r.op), [&](ir::Slot, ir::ValueId v) { ++m_counts[{v, r.rows}]; });
    for (int i = 0; i < static_cast<int>(loop.steps.size()); ++i)
        if (auto fusion = families.segments ? aggregation(i) : std::nullopt) m_fusions.emplace(i, *fusion);
    const auto known = [&](int step) {
        const Fusion* const f = at(step);
        if (!f || (f->scale >= 0 && f->shape.heads == f->shape.width && f->shape.width > 1)) return 0;
        return 1 + (f->gather >= 0 ? 1 : 0) + (f->scale >= 0 ? 1 : 0);
    };
    m_regions = stripRegions(request(known, families));
    for (const StripRegion& region : m_regions)
        for (const int step : region.steps) {
            m_vanished.insert(step);
            m_fusions.erase(step);
        }
    for (const auto& [step, fusion] : m_fusions)
        for (const int part : {fusion.gather, fusion.scale})
            if (part >= 0) m_vanished.insert(part);
    if (families.chain && !families.gpu) findProducts();
}

std::optional<StripAct> Fuser::rowAct(int step, kernels::StripOp op) const
{
    const auto at = static_cast<std::size_t>(step);
    if (step < 0 || vanished(step) ||
        m_analysis.program.value(this->op(step).outputs.at(0)).dtype != base::DType::Float32)
        return std::nullopt;
    auto act = stripAct(m_analysis, m_loop.steps[at], m_uses[at]);
    return act && act->kind == StripAct::Compute && act->op == op ? act : std::nullopt;
}

// Finds products that are only summed, such as (rows * weights).sum(-1) in the attention of GAT.
void Fuser::findProducts()
{
    for (int i = 0; i < static_cast<int>(m_loop.steps.size()); ++i) {
        if (op(i).name != "aten::sum") continue;
        const auto sum = rowAct(i, kernels::StripOp::RowSum);
        if (!sum) continue;
        const int made = soleProducer(sum->arguments[0].value, sum->arguments[0].rows);
        const auto product = rowAct(made, kernels::StripOp::Mul);
        if (!product || !std::ranges::all_of(product->arguments, [](const StripArgument& a) {
                return !a.number && a.inner == 1 && a.outer == 1;
            }))
            continue;
        m_products[i] = made;
        m_vanished.insert(made);
    }
}

int Fuser::productOf(int step) const
{
    const auto it = m_products.find(step);
    return it == m_products.end() ? -1 : it->second;
}

const ir::Op& Fuser::op(int step) const
{
    return m_analysis.program.op(m_loop.steps[static_cast<std::size_t>(step)].op);
}

const Fusion* Fuser::at(int step) const
{
    const auto it = m_fusions.find(step);
    return it == m_fusions.end() ? nullptr : &it->second;
}

int Fuser::useCount(ir::ValueId value, const ir::RowClass& rows) const
{
    const auto it = m_counts.find({value, rows});
    return it == m_counts.end() ? 0 : it->second;
}

bool Fuser::isFloatRows(ir::ValueId value) const
{
    const base::DType dtype = m_analysis.program.value(value).dtype;
    const bool kernel =
        dtype == base::DType::Float32 || dtype == base::DType::Float16 || dtype == base::DType::BFloat16;
    return (kernel || (m_doubles && dtype == base::DType::Float64)) && m_analysis.rowDim(value) == 0;
}

bool Fuser::alike(ir::ValueId a, ir::ValueId b) const
{
    return m_analysis.program.value(a).dtype == m_analysis.program.value(b).dtype;
}

namespace {

bool combination(const analysis::Analysis& analysis, const ir::Op& o, Segment& segment)
{
    const ir::Arg* init = o.args.empty() ? nullptr : &o.args[0];
    const auto fill = init && init->value() ? fillNumber(analysis.program, *init->value()) : std::nullopt;
    if (!fill) return false;
    segment.empty = *fill;
    const bool adds = o.name == "aten::scatter_add" || o.name == "aten::index_add";
    if (adds) return *fill == 0 && isOne(argument(o, "alpha"));
    if (o.name != "aten::scatter_reduce" && o.name != "aten::index_reduce") return false;
    const ir::Arg* how = ir::argument(o, "reduce");
    const auto* text = how ? std::get_if<std::string>(&how->data) : nullptr;
    if (!text) return false;
    const bool includeSelf = isTrue(argument(o, "include_self"), true);
    if (*text == "sum") return *fill == 0;
    if (includeSelf) return false;
    if (*text == "mean") segment.combine = kernels::Combine::Mean;
    else if (*text == "amax") segment.combine = kernels::Combine::Max;
    else if (*text == "amin") segment.combine = kernels::Combine::Min;
    else return false;
    return true;
}

bool isFloatRow(const analysis::Analysis& analysis, ir::ValueId value)
{
    return base::isFloating(analysis.program.value(value).dtype) && analysis.rowDim(value) == 0;
}

// scatter takes one index per element: a narrower one leaves elements out. index_add takes one per row.
bool indexCovers(const analysis::Analysis& analysis, const ir::Op& o, ir::ValueId message)
{
    const ir::Arg* index = ir::argument(o, "index");
    if (!index || !index->value()) return false;
    const auto& shape = analysis.program.value(*index->value()).shape;
    if (o.name.starts_with("aten::index_")) return shape.size() == 1;
    return shape == analysis.program.value(message).shape;
}

}  // namespace

std::optional<Fusion> aggregationOf(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use)
{
    const ir::Op& o = analysis.program.op(step.op);
    const analysis::OpInfo& info = analysis.info(o.id);
    const bool byDestination = info.kind == OpKind::Aggregate && info.dim == 0 && step.rows.kind == ir::RowKind::Batch;
    if (!byDestination || o.outputs.size() != 1) return std::nullopt;
    Fusion fusion;
    if (!combination(analysis, o, fusion.shape) || !isFloatRow(analysis, o.outputs[0])) return std::nullopt;
    for (const auto& operand : use.operands) {
        if (operand.use != Use::Message || isIndex(o, operand.slot)) continue;
        if (!isFloatRow(analysis, operand.value) || operand.rows.kind != ir::RowKind::Owned) return std::nullopt;
        fusion.source = operand.value;
        fusion.shape.messages = operand.rows;
    }
    if (!fusion.source.valid() || !indexCovers(analysis, o, fusion.source)) return std::nullopt;
    if (analysis.program.value(fusion.source).dtype != analysis.program.value(o.outputs[0]).dtype) return std::nullopt;
    if (rowShape(analysis, fusion.source) != rowShape(analysis, o.outputs[0])) return std::nullopt;
    fusion.shape.width = product(rowShape(analysis, fusion.source));
    return fusion;
}

std::optional<Fusion> Fuser::aggregation(int step) const
{
    const auto at = static_cast<std::size_t>(step);
    std::optional<Fusion> fusion = aggregationOf(m_analysis, m_loop.steps[at], m_uses[at]);
    if (!fusion || !isFloatRows(fusion->source)) return std::nullopt;
    includeGather(*fusion);
    return fusion;
}

// The step that makes the value on these rows, if it has no other reader.
int Fuser::soleProducer(ir::ValueId value, const ir::RowClass& rows) const
{
    const auto it = m_producers.find({value, rows});
    return it == m_producers.end() || useCount(value, rows) != 1 ? -1 : it->second;
}

bool gathersRows(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use)
{
    const ir::Op& o = analysis.program.op(step.op);
    const analysis::OpInfo& info = analysis.info(o.id);
    using operators::Rule;
    const Rule rule = operators::of(o.name).rule;
    const bool known = rule == Rule::IndexSelect || rule == Rule::Index || rule == Rule::Embedding;
    if (!known || info.kind != OpKind::Gather || info.dim != 0) return false;
    for (const auto& operand : use.operands) {
        const std::size_t rank = analysis.program.value(operand.value).shape.size();
        if (operand.use == Use::Index && rank != 1) return false;
        if (operand.use == Use::Source && rank != analysis.program.value(o.outputs[0]).shape.size()) return false;
    }
    return true;
}

bool Fuser::gathersRows(int step) const
{
    const auto at = static_cast<std::size_t>(step);
    return executor::gathersRows(m_analysis, m_loop.steps[at], m_uses[at]);
}

// Whether the step gathers rows of elements that the segment kernels support.
bool Fuser::isRowGather(int step) const
{
    if (step < 0 || !gathersRows(step)) return false;
    const auto& operands = m_uses[static_cast<std::size_t>(step)].operands;
    return std::ranges::all_of(operands, [&](const analysis::OperandRows& operand) {
        return operand.use != Use::Source || isFloatRows(operand.value);
    });
}

void Fuser::includeGather(Fusion& fusion) const
{
    const int made = soleProducer(fusion.source, fusion.shape.messages);
    if (made < 0) return;
    if (isRowGather(made)) fusion.gather = made;
    else if (!scaled(made, fusion)) return;
    for (const auto& operand : m_uses[static_cast<std::size_t>(fusion.gather)].operands) {
        if (operand.use == Use::Index) fusion.indexSlot = operand.slot;
        if (operand.use != Use::Source) continue;
        fusion.source = operand.value;
        fusion.shape.sourceRows = operand.rows;
    }
}

// message = gathered rows * weight, either way round.
bool Fuser::scaled(int step, Fusion& fusion) const
{
    const ir::Op& o = op(step);
    if (o.name != "aten::mul" || o.args.size() < 2 || !o.args[0].value() || !o.args[1].value()) return false;
    for (int side : {0, 1}) {
        const ir::ValueId rows = *o.args[static_cast<std::size_t>(side)].value();
        const ir::ValueId weight = *o.args[static_cast<std::size_t>(1 - side)].value();
        const int gather = soleProducer(rows, fusion.shape.messages);
        if (!isRowGather(gather) || !m_analysis.hasRows(weight) || !isFloatRows(weight)) continue;
        if (!alike(weight, rows) || !alike(rows, fusion.source)) continue;
        const auto message = rowShape(m_analysis, rows);
        const std::int64_t heads = headsOf(rowShape(m_analysis, weight), message);
        if (heads == 0 || message != rowShape(m_analysis, fusion.source)) continue;
        fusion.gather = gather;
        fusion.scale = step;
        fusion.weight = weight;
        fusion.shape.heads = heads;
        return true;
    }
    return false;
}

}  // namespace hopscope::executor

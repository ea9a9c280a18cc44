#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "executor/program/fuse.h"
#include "operators/operators.h"

namespace hopscope::executor {

using analysis::OpKind;
using analysis::Use;
using ir::RowKind;
using kernels::StripOp;

namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t elements(const Shape& shape)
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

struct KnownOperator {
    const char* name;
    StripOp op;
    int operands;
    bool asLibTorch = true;  // to the bit
};

constexpr std::array knownOperators{
    KnownOperator{"aten::add", StripOp::Add, 2},
    KnownOperator{"aten::sub", StripOp::Sub, 2},
    KnownOperator{"aten::mul", StripOp::Mul, 2},
    KnownOperator{"aten::div", StripOp::Div, 2},
    KnownOperator{"aten::neg", StripOp::Neg, 1},
    KnownOperator{"aten::abs", StripOp::Abs, 1},
    KnownOperator{"aten::sqrt", StripOp::Sqrt, 1},
    KnownOperator{"aten::relu", StripOp::Relu, 1},
    KnownOperator{"aten::exp", StripOp::Exp, 1, false},
    KnownOperator{"aten::leaky_relu", StripOp::LeakyRelu, 1},
    KnownOperator{"aten::sigmoid", StripOp::Sigmoid, 1, false},
    KnownOperator{"aten::tanh", StripOp::Tanh, 1, false},
    KnownOperator{"aten::silu", StripOp::Silu, 1, false},
    KnownOperator{"aten::softplus", StripOp::Softplus, 1, false},
};

bool isNumber(const ir::Arg* arg, double wanted)
{
    if (!arg || arg->none()) return true;
    return arg->number() == wanted;
}

// Whether no argument besides the operands changes the result.
bool plainly(const ir::Op& op)
{
    const ir::Arg* const rounding = ir::argument(op, "rounding_mode");
    return isNumber(ir::argument(op, "alpha"), 1) && (!rounding || rounding->none()) &&
           isNumber(ir::argument(op, "beta"), 1) && isNumber(ir::argument(op, "threshold"), 20);
}

StripAct actOf(StripAct::Kind kind, StripOp op = StripOp::Add)
{
    StripAct act;
    act.kind = kind;
    act.op = op;
    return act;
}

StripArgument argumentOf(ir::ValueId value, const ir::RowClass& rows)
{
    StripArgument a;
    a.value = value;
    a.rows = rows;
    return a;
}

class Describer {
public:
    Describer(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use)
        : m_analysis(analysis),
          m_program(analysis.program),
          m_op(analysis.program.op(step.op)),
          m_info(analysis.info(step.op)),
          m_step(step),
          m_use(use)
    {}

    std::optional<StripAct> describe()
    {
        if (m_op.outputs.size() != 1 || !isRows(m_op.outputs[0])) return std::nullopt;
        if (m_step.rows.kind != RowKind::Batch && m_step.rows.kind != RowKind::Owned) return std::nullopt;
        if (m_info.kind == OpKind::Aggregate) return aggregate();
        if (m_info.kind == OpKind::Gather) return gather();
        if (m_info.kind != OpKind::Rowwise) return std::nullopt;
        if (auto made = alias()) return made;
        if (auto made = rowSum()) return made;
        return compute();
    }

private:
    // Rows first, in the dtype of the result.
    bool isRows(ir::ValueId v) const
    {
        const ir::Value& value = m_program.value(v);
        return value.kind == ir::ValueKind::Tensor && base::isFloating(value.dtype) && m_analysis.rowDim(v) == 0 &&
               value.dtype == m_program.value(m_op.outputs[0]).dtype;
    }

    const analysis::OperandRows* operandAt(std::size_t arg) const
    {
        for (const analysis::OperandRows& o : m_use.operands)
            if (o.slot.arg == static_cast<int>(arg)) return &o;
        return nullptr;
    }

    std::optional<StripAct> aggregate() const
    {
        const std::optional<Fusion> found = aggregationOf(m_analysis, m_step, m_use);
        if (!found) return std::nullopt;
        StripAct act = actOf(StripAct::Aggregate, StripOp::Aggregate);
        act.arguments.push_back(argumentOf(found->source, found->shape.messages));
        act.combine = found->shape.combine;
        act.empty = found->shape.empty;
        return act;
    }

    std::optional<StripAct> gather() const
    {
        if (m_step.rows.kind != RowKind::Owned || !gathersRows(m_analysis, m_step, m_use)) return std::nullopt;
        const auto source = std::ranges::find(m_use.operands, Use::Source, &analysis::OperandRows::use);
        if (source == m_use.operands.end() || !isRows(source->value)) return std::nullopt;
        if (source->rows.kind != RowKind::Batch && source->rows.kind != RowKind::Frontier) return std::nullopt;
        const bool own = source->rows.kind == RowKind::Batch;
        if (own && (m_info.role.space != m_step.rows.table || m_info.role.key != m_step.rows.key)) return std::nullopt;
        StripAct act = actOf(own ? StripAct::Own : StripAct::Gather);
        act.arguments.push_back(argumentOf(source->value, source->rows));
        return act;
    }

    std::optional<StripAct> alias() const
    {
        if (!operators::reshapes(m_op.name) || m_use.operands.size() != 1) return std::nullopt;
        const analysis::OperandRows& from = m_use.operands[0];
        if (from.rows != m_step.rows || !isRows(from.value)) return std::nullopt;
        if (elements(rowShape(m_analysis, from.value)) != width()) return std::nullopt;
        StripAct act = actOf(StripAct::Alias);
        act.arguments.push_back(argumentOf(from.value, from.rows));
        return act;
    }

    // A sum over the last dimension.
    std::optional<StripAct> rowSum() const
    {
        if (m_op.name != "aten::sum" || m_use.operands.size() != 1 || m_info.feedsChoice) return std::nullopt;
        const analysis::OperandRows& from = m_use.operands[0];
        const ir::Arg *const dims = ir::argument(m_op, "dim"), *const dtype = ir::argument(m_op, "dtype");
        if (!dims || !dims->list() || dims->list()->size() != 1 || (dtype && !dtype->none())) return std::nullopt;
        const std::int64_t* const dim = dims->list()->front().integer();
        const auto rank = static_cast<std::int64_t>(m_program.value(from.value).shape.size());
        if (!dim || (*dim != -1 && *dim != rank - 1) || rank < 2) return std::nullopt;
        if (from.rows != m_step.rows || !isRows(from.value) || width() == 0) return std::nullopt;
        StripAct act = actOf(StripAct::Compute, StripOp::RowSum);
        act.arguments.push_back(argumentOf(from.value, from.rows));
        return act;
    }

    std::optional<StripAct> compute() const
    {
        const auto known = std::ranges::find(knownOperators, m_op.name, &KnownOperator::name);
        if (known == knownOperators.end() || !plainly(m_op) || width() == 0) return std::nullopt;
        if (m_info.feedsChoice && !known->asLibTorch) return std::nullopt;
        StripAct act = actOf(StripAct::Compute, known->op);
        for (std::size_t a = 0; a < static_cast<std::size_t>(known->operands); ++a) {
            auto operand = operandOf(a, known->op);
            if (!operand) return std::nullopt;
            act.arguments.push_back(*operand);
        }
        if (act.op == StripOp::LeakyRelu && !slope(act)) return std::nullopt;
        const auto repeated = [](const StripArgument& a) { return a.inner != 1 || a.outer != 1; };
        if (std::ranges::count_if(act.arguments, repeated) > (known->operands == 1 ? 0 : 1)) return std::nullopt;
        return act;
    }

    bool slope(StripAct& act) const
    {
        const ir::Arg* const slope = ir::argument(m_op, "negative_slope");
        if (!slope || !slope->number()) return false;
        act.parameter = *slope->number();
        return true;
    }

    std::optional<StripArgument> operandOf(std::size_t at, StripOp op) const
    {
        const ir::Arg& arg = m_op.args.at(at);
        if (const std::optional<double> number = arg.number()) return numberOf(*number, op);
        if (!arg.value()) return std::nullopt;
        const ir::Value& value = m_program.value(*arg.value());
        if (value.kind != ir::ValueKind::Tensor)
            return value.origin == ir::Origin::Constant ? numberOf(value.number, op) : std::nullopt;
        const analysis::OperandRows* const operand = operandAt(at);
        if (!operand || operand->use == Use::Shape) return std::nullopt;
        if (value.origin == ir::Origin::Constant && value.shape.empty() && value.literal.size() == 1)
            return numberOf(value.literal[0], op);
        if (!m_analysis.hasRows(value.id)) return withoutRows(value);
        if (operand->rows != m_step.rows || !isRows(value.id)) return std::nullopt;
        StripArgument made = argumentOf(value.id, operand->rows);
        Shape shape = value.shape;
        return fitted(made, {shape.begin() + 1, shape.end()}, shape.size());
    }

    // LibTorch keeps a number in the precision in which it computes; strips in that of the elements.
    std::optional<StripArgument> numberOf(double number, StripOp op) const
    {
        const base::DType dtype = m_program.value(m_op.outputs[0]).dtype;
        const bool half = dtype == base::DType::Float16 || dtype == base::DType::BFloat16;
        const bool exact = std::abs(number) <= 128 && number == std::floor(number);
        const bool tiny = std::abs(number) < 1e-12 && (op == StripOp::Add || op == StripOp::Sub);
        if (half && !exact && !tiny) return std::nullopt;
        StripArgument made;
        made.number = number;
        made.inner = width();
        return made;
    }

    std::optional<StripArgument> withoutRows(const ir::Value& value) const
    {
        const ir::Value& out = m_program.value(m_op.outputs[0]);
        const std::size_t rank = out.shape.size();
        if (value.dtype != out.dtype || value.shape.size() > rank) return std::nullopt;
        if (value.shape.size() == rank && value.shape[0] != 1) return std::nullopt;
        const bool full = value.shape.size() == rank;
        StripArgument made = argumentOf(value.id, {});
        return fitted(made, {value.shape.begin() + (full ? 1 : 0), value.shape.end()}, rank);
    }

    // Whether the operand's row is that of the result, or repeated in a way that the kernels support.
    std::optional<StripArgument> fitted(StripArgument made, Shape row, std::size_t rank) const
    {
        const Shape out = rowShape(m_analysis, m_op.outputs[0]);
        if (rank != out.size() + 1) return std::nullopt;
        row.insert(row.begin(), out.size() - row.size(), 1);
        if (row == out) return made;
        std::size_t same = 0, ones = 0;
        while (same < row.size() && row[same] == out[same]) ++same;
        while (ones < row.size() && row[ones] == 1) ++ones;
        if (std::all_of(row.begin() + static_cast<std::ptrdiff_t>(same), row.end(), [](auto n) { return n == 1; }))
            made.inner = width() / elements({row.begin(), row.begin() + static_cast<std::ptrdiff_t>(same)});
        else if (std::equal(row.begin() + static_cast<std::ptrdiff_t>(ones), row.end(),
                            out.begin() + static_cast<std::ptrdiff_t>(ones)))
            made.outer = width() / elements({row.begin() + static_cast<std::ptrdiff_t>(ones), row.end()});
        else return std::nullopt;
        return made;
    }

    std::int64_t width() const { return elements(rowShape(m_analysis, m_op.outputs[0])); }

    const analysis::Analysis& m_analysis;
    const ir::Program& m_program;
    const ir::Op& m_op;
    const analysis::OpInfo& m_info;
    const plan::Step& m_step;
    const StepUse& m_use;
};

}  // namespace

std::optional<StripAct> stripAct(const analysis::Analysis& analysis, const plan::Step& step, const StepUse& use)
{
    if (analysis.program.op(step.op).listOutput) return std::nullopt;
    return Describer(analysis, step, use).describe();
}

}  // namespace hopscope::executor

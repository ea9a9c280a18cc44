#include <map>

#include "executor/batch/segment_run.h"
#include "executor/batch/strip_run.h"
#include "executor/program/fuse.h"

namespace hopscope::executor {

using kernels::StripOp;
using kernels::StripOperand;
using kernels::StripRows;
using kernels::StripStep;

namespace {

at::Tensor computed(const StripStep& s, const at::Tensor& a, const at::Tensor& b)
{
    switch (s.op) {
    case StripOp::Add: return a + b;
    case StripOp::Sub: return a - b;
    case StripOp::Mul: return a * b;
    case StripOp::Div: return a / b;
    case StripOp::Neg: return a.neg();
    case StripOp::Abs: return a.abs();
    case StripOp::Sqrt: return a.sqrt();
    case StripOp::LeakyRelu: return at::leaky_relu(a, s.parameter);
    case StripOp::Exp: return a.exp();
    case StripOp::Sigmoid: return a.sigmoid();
    case StripOp::Tanh: return a.tanh();
    case StripOp::Silu: return at::silu(a);
    case StripOp::Softplus: return at::softplus(a);
    case StripOp::RowSum: return a.view({a.size(0), s.width, -1}).sum(-1);
    default: return a.relu();
    }
}

// The steps of a program one after the other, on matrices of one row per edge or destination.
class Steps {
public:
    Steps(const StripInputs& in, Session& session)
        : m_in(in),
          m_program(in.part.program),
          m_session(session),
          m_owners(ownersOf(in.offsets, in.messages))
    {}

    std::vector<at::Tensor> run()
    {
        for (const StripStep& s : m_program.steps) {
            const bool aggregation = s.op == StripOp::Aggregate;
            at::Tensor made = aggregation ? aggregate(s) : compute(s);
            (aggregation || s.perDestination ? m_destinations : m_edges)[s.to] = std::move(made);
        }
        std::vector<at::Tensor> results;
        for (const auto& [value, at] : m_in.part.outputs) {
            std::vector<std::int64_t> shape = rowShape(m_session.analysis, value);
            shape.insert(shape.begin(), m_in.offsets.numel() - 1);
            results.push_back(m_destinations.at(at).view(shape));
        }
        return results;
    }

private:
    at::Tensor compute(const StripStep& s)
    {
        const at::Tensor a = rows(s.a, s.perDestination);
        return computed(s, a, s.b.from == StripOperand::From::None ? a : rows(s.b, s.perDestination)).contiguous();
    }

    at::Tensor aggregate(const StripStep& s)
    {
        Segment segment;
        segment.width = s.width;
        segment.combine = s.combine;
        segment.empty = s.empty;
        SegmentInputs in;
        in.source = rows(s.a, false);
        if (s.b.from != StripOperand::From::None) in.source = in.source * rows(s.b, false);
        in.source = in.source.contiguous();
        in.computed = in.source.scalar_type();
        in.offsets = m_in.offsets;
        in.first = in.columnFirst = m_in.first;
        in.count = m_in.messages;
        in.pieces = m_in.pieces;
        in.pieceFirst = m_in.pieceFirst;
        return runSegment(segment, in, m_session);
    }

    at::Tensor rows(const StripOperand& o, bool perDestination)
    {
        const at::Tensor found = whole(o, perDestination);
        const std::int64_t count = found.size(0), width = found.size(1);
        if (o.inner > 1) return found.unsqueeze(2).expand({count, width, o.inner}).reshape({count, -1});
        return o.outer > 1 ? found.repeat({1, o.outer}) : found;
    }

    at::Tensor whole(const StripOperand& o, bool perDestination)
    {
        const auto spread = [&](const at::Tensor& own) { return perDestination ? own : own.index_select(0, m_owners); };
        const auto at = static_cast<std::size_t>(o.at);
        if (o.from == StripOperand::From::Edge) return m_edges.at(o.at);
        if (o.from == StripOperand::From::Destination) return spread(m_destinations.at(o.at));
        const std::int64_t width = m_program.tableWidths[at];
        const StripTableSource& source = m_in.part.tables[at];
        if (!source.value.valid()) return at::full({1, 1}, source.number, m_options);
        const DividedTable* const divided = m_in.divided.empty() ? nullptr : &m_in.divided[at];
        if (divided && divided->places.defined())
            return gatheredOnHost(divided->host, m_in.columns[at]).reshape({-1, width});
        const at::Tensor table = m_in.tables[at].reshape({-1, width});
        if (source.rows == StripRows::Destinations) return spread(table);
        return source.rows == StripRows::Gathered ? table.index_select(0, m_in.columns[at]) : table;
    }

    const StripInputs& m_in;
    const kernels::StripProgram& m_program;
    Session& m_session;
    at::Tensor m_owners;
    at::TensorOptions m_options = rowOptions(m_in);
    std::map<int, at::Tensor> m_edges, m_destinations;
};

}  // namespace

std::vector<at::Tensor> runSteps(const StripInputs& inputs, Session& session) { return Steps(inputs, session).run(); }

}  // namespace hopscope::executor

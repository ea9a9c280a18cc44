#include "analysis/rows/check_results.h"

#include <algorithm>
#include <set>

namespace hopscope::analysis {

namespace {

using ir::Op;

class Results {
public:
    Results(Builder& builder, const std::map<SpaceId, Refused::Kind>& unknown)
        : m_analysis(builder.analysis),
          m_unknown(unknown)
    {}

    base::Status checkOutputs()
    {
        for (const ir::NamedValue& o : m_analysis.program.outputs) {
            const ValueInfo& info = m_analysis.info(o.value);
            if (info.sparse)
                return refuseOutput(o, {"its result '" + o.name + "' is a sparse matrix", Refused::Kind::SparseResult});
            const auto unknown = std::ranges::find_if(info.dims, [&](SpaceId s) { return m_unknown.contains(s); });
            if (unknown != info.dims.end())
                return refuseOutput(o, {"its result '" + o.name + "' has " + tableLabel(m_analysis.tables, *unknown),
                                        m_unknown.at(*unknown)});
        }
        return {};
    }

    // Rows of a table together with rows that belong to none are never made: their users go by the parts.
    base::Status checkAdded()
    {
        const ir::Program& program = m_analysis.program;
        std::set<ValueId> needed;
        for (const ir::NamedValue& o : program.outputs) needed.insert(o.value);
        for (const ir::Guard& g : program.guards) needed.insert(g.condition);
        for (auto op = program.ops.rbegin(); op != program.ops.rend(); ++op) {
            if (std::ranges::none_of(op->outputs, [&](ValueId v) { return needed.contains(v); })) continue;
            if (std::ranges::any_of(op->outputs, [&](ValueId v) { return joinsAdded(v); })) return refuseAdded(*op);
            const auto& size = m_analysis.info(op->outputs[0]).size;
            const bool number = ir::isScalarOp(*op) && size && size->atoms.empty();
            ir::forEachOperand(*op, [&](Slot slot, ValueId v) {
                if (!number && m_analysis.info(op->id).use(slot).use != Use::Shape) needed.insert(v);
            });
        }
        return {};
    }

    base::Status checkGuards()
    {
        for (const ir::Guard& g : m_analysis.program.guards) {
            if (m_analysis.info(g.condition).structureOnly) continue;
            Op place;
            place.name = "branch";
            place.modules = g.modules;
            place.source = g.source;
            m_analysis.refusedOp = m_analysis.program.value(g.condition).producer;
            return refusal(place, "a branch depends on the values of features");
        }
        return {};
    }

private:
    base::Status refuseOutput(const ir::NamedValue& output, const Refused& why)
    {
        m_analysis.refusedOp = m_analysis.program.value(output.value).producer;
        return refusal(m_analysis.program.op(m_analysis.refusedOp), why);
    }

    base::Status refuseAdded(const Op& op)
    {
        m_analysis.refusedOp = op.id;
        return refusal(op, {"needs rows of a table together with rows that belong to no table", Refused::Kind::Added});
    }

    bool joinsAdded(ValueId v) const
    {
        const Tables& tables = m_analysis.tables;
        return std::ranges::any_of(m_analysis.info(v).dims, [&](SpaceId s) {
            const bool cat = s.valid() && tables.space(s).kind == SpaceKind::Cat;
            return cat &&
                   std::ranges::any_of(tables.space(s).parts, [&](SpaceId p) { return tables.space(p).isAdded(); });
        });
    }

    Analysis& m_analysis;
    const std::map<SpaceId, Refused::Kind>& m_unknown;
};

}  // namespace

tl::unexpected<base::Error> refusal(const Op& op, const Refused& why)
{
    return base::fail(base::ErrorCode::Unsupported, ir::describeOp(op) + ": " + why.text, hintOf(why.kind),
                      ir::describeOp(op));
}

base::Status checkResults(Builder& builder, const std::map<SpaceId, Refused::Kind>& unknown)
{
    Results results(builder, unknown);
    if (auto status = results.checkOutputs(); !status) return status;
    if (auto status = results.checkAdded(); !status) return status;
    return results.checkGuards();
}

}  // namespace hopscope::analysis

#include "analysis/choices.h"

#include <algorithm>

#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::Slot;

class Choices {
public:
    explicit Choices(Analysis& analysis)
        : m_a(analysis),
          m_used(analysis.program.values.size(), false),
          m_feeds(analysis.program.values.size(), false)
    {}

    void run()
    {
        for (const ir::NamedValue& output : m_a.program.outputs) m_used[output.value.at()] = true;
        for (auto op = m_a.program.ops.rbegin(); op != m_a.program.ops.rend(); ++op) visit(*op);
    }

private:
    void visit(const ir::Op& op)
    {
        bool& feeds = m_a.ops[op.id.at()].feedsChoice;
        feeds = std::ranges::any_of(op.outputs, [this](ValueId v) { return m_feeds[v.at()]; });
        const bool all = feeds || chooses(op);
        ir::forEachOperand(op, [&](Slot slot, ValueId v) {
            m_used[v.at()] = true;
            if (all && !onlyShape(op, slot)) m_feeds[v.at()] = true;
        });
    }

    bool chooses(const ir::Op& op) const
    {
        const operators::Operator::Traits& traits = operators::of(op.name).traits;
        if (traits.jumps || traits.countsContent || rounds(op)) return true;
        return std::ranges::any_of(op.outputs, [this](ValueId v) { return m_used[v.at()] && !isReal(v); });
    }

    // A division that rounds.
    static bool rounds(const ir::Op& op)
    {
        for (std::size_t i = 0; i < op.argInfo.size() && i < op.args.size(); ++i)
            if (op.argInfo[i].name == "rounding_mode") return !op.args[i].none();
        return false;
    }

    bool isReal(ValueId v) const
    {
        const ir::Value& value = m_a.program.value(v);
        if (value.kind == ir::ValueKind::Tensor) return base::isFloating(value.dtype);
        return value.kind == ir::ValueKind::Float;
    }

    bool onlyShape(const ir::Op& op, Slot slot) const
    {
        const auto arg = static_cast<std::size_t>(slot.arg);
        if (op.name == "scalar::size" || op.name == "scalar::numel") return true;
        return m_a.info(op.id).use(slot).use == Use::Shape ||
               (arg < op.argInfo.size() && operators::isShapeOnly(op.name, op.argInfo[arg].name));
    }

    Analysis& m_a;
    std::vector<bool> m_used, m_feeds;  // by value
};

}  // namespace

void findChoices(Analysis& analysis) { Choices(analysis).run(); }

}  // namespace hopscope::analysis

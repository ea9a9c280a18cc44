#pragma once

// Models as text, and a judge of plans that knows nothing of how they are made.

#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "analysis/rows/classes.h"
#include "base/rules.h"
#include "placement/strategy.h"
#include "support/program_text.h"

namespace hopscope::test {

// Two sum convolutions with a relu between them; h1 is narrow before the relu and wide after the second linear.
inline const std::string twoLayers = R"(
x = node f[7,4]
e = index i[2,9]
w1 = weight f[6,4]
w2 = weight f[3,6]
n = scalar::size(self=x, dim=0) -> n7
src = aten::select(self=e, dim=0, index=0) -> i[9]
dst = aten::select(self=e, dim=0, index=1) -> i[9]
lin1 = aten::linear(input=x, weight=w1, bias=none) -> f[7,6]
m1 = aten::index_select(self=lin1, dim=0, index=src) -> f[9,6]
z1 = aten::new_zeros(self=lin1, size=[n, 6], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,6]
h1 = aten::index_add(self=z1, dim=0, index=dst, source=m1, alpha=1) -> f[7,6]
r1 = aten::relu(self=h1) -> f[7,6]
lin2 = aten::linear(input=r1, weight=w2, bias=none) -> f[7,3]
m2 = aten::index_select(self=lin2, dim=0, index=src) -> f[9,3]
z2 = aten::new_zeros(self=lin2, size=[n, 3], dtype=none, layout=none, device=none, pin_memory=none) -> f[7,3]
h2 = aten::index_add(self=z2, dim=0, index=dst, source=m2, alpha=1) -> f[7,3]
)";

struct Analysed {
    analysis::Analysis a;

    explicit Analysed(const std::string& text)
    {
        const auto drawn = drawProgram(text);
        a = analysis::analyse(drawn.program, drawn.schema);
        REQUIRE_MESSAGE(!a.refusal, (a.refusal ? base::describe(*a.refusal) : ""));
    }

    // The first output of the n-th operator of this name.
    ir::ValueId value(const std::string& name, int n = 0) const
    {
        for (const ir::Op& op : a.program.ops)
            if (op.name == "aten::" + name && n-- == 0) return op.outputs[0];
        FAIL("no operator " << name);
        return {};
    }

    std::vector<ir::ValueId> rowValues() const
    {
        std::vector<ir::ValueId> found;
        for (const ir::Op& op : a.program.ops)
            if (!a.info(op.id).structureOnly && a.hasRows(op.outputs[0])) found.push_back(op.outputs[0]);
        return found;
    }
};

inline std::set<ir::ValueId> storedBy(const plan::Plan& plan)
{
    std::set<ir::ValueId> stored;
    for (const plan::Checkpoint& c : plan.checkpoints) stored.insert(c.value);
    return stored;
}

inline bool readsEarlier(const plan::Plan& plan, const plan::Loop& loop, plan::StageId stage,
                         const plan::Access& access)
{
    const bool read = std::find(loop.reads.begin(), loop.reads.end(), access) != loop.reads.end();
    return read && std::any_of(plan.checkpoints.begin(), plan.checkpoints.end(),
                               [&](const plan::Checkpoint& c) { return c.value == access.value && c.stage < stage; });
}

using Done = std::set<std::pair<ir::OpId, ir::RowClass>>;

// What is computed on the frontier of the batch's own type is there on its rows.
inline bool isThere(const Done& done, const plan::Loop& loop, const std::pair<ir::OpId, ir::RowClass>& wanted)
{
    const bool own = wanted.second == ir::RowClass{ir::RowKind::Batch, loop.destination, {}};
    return done.contains(wanted) ||
           (own && done.contains({wanted.first, {ir::RowKind::Frontier, loop.destination, {}}}));
}

// A judge of its own: every operand of every step is a leaf, computed by an earlier step on the same rows, or read from a
// store of an earlier stage; every checkpoint is written exactly once.
inline std::string flaw(const analysis::Analysis& a, const plan::Plan& plan)
{
    std::map<ir::ValueId, int> written;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops) {
            Done done;
            for (const plan::Step& step : loop.steps) {
                const auto operands = analysis::operandRows(a, step.op, step.rows);
                if (!operands) return ir::opName(step.op) + " cannot run on " + a.tables.className(step.rows);
                for (const analysis::OperandRows& o : *operands) {
                    const bool leaf = a.available(o.value) || o.rows.kind == ir::RowKind::All;
                    const bool computed = !leaf && isThere(done, loop, {a.program.value(o.value).producer, o.rows});
                    if (!leaf && !computed && !readsEarlier(plan, loop, stage.index, {o.value, o.rows}))
                        return ir::valueName(o.value) + " is not there on " + a.tables.className(o.rows);
                }
                done.insert({step.op, step.rows});
            }
            for (const plan::Access& w : loop.writes) {
                ++written[w.value];
                if (!isThere(done, loop, {a.program.value(w.value).producer, w.rows}))
                    return ir::valueName(w.value) + " is written but not computed";
            }
        }
    for (const plan::Checkpoint& c : plan.checkpoints)
        if (written[c.value] != 1)
            return ir::valueName(c.value) + " is written " + std::to_string(written[c.value]) + " times";
    return {};
}

}  // namespace hopscope::test

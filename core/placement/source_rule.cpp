#include "placement/rules.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "analysis/depth.h"
#include "placement/pins.h"

namespace hopscope::placement {

namespace {

using analysis::Analysis;
using ir::OpId;
using ir::ValueId;

// The dependency graph with each message-passing module call folded into one node.
struct Folded {
    std::vector<int> nodeOf;             // by operator; -1: prologue
    std::vector<std::vector<OpId>> ops;  // by node
    std::vector<std::set<int>> parents;
    std::vector<std::set<int>> consumers;
    std::vector<bool> messagePassing;
    std::vector<int> t;
};

int nodeCount(std::vector<int>& nodeOf, const std::vector<int>& module, const Analysis& a)
{
    std::map<int, int> folded;
    int count = 0;
    for (std::size_t i = 0; i < nodeOf.size(); ++i) {
        if (a.ops[i].structureOnly || a.ops[i].kind == analysis::OpKind::Scalar) continue;
        nodeOf[i] = module[i] < 0 ? count : folded.emplace(module[i], count).first->second;
        if (nodeOf[i] == count) ++count;
    }
    return count;
}

template <class Fn>
void forEachParent(const Analysis& a, const ir::Op& op, Fn&& fn)
{
    ir::forEachOperand(op, [&](ir::Slot s, ValueId v) {
        if (a.available(v) || a.info(op.id).use(s).use == analysis::Use::Shape) return;
        if (a.program.value(v).kind == ir::ValueKind::Tensor) fn(a.program.value(v).producer, v);
    });
}

Folded fold(const Analysis& a)
{
    const std::vector<OpId> hops = analysis::hopOperators(a);
    const std::vector<int> module = analysis::messagePassingModules(a, hops);
    Folded f;
    f.nodeOf.assign(a.program.ops.size(), -1);
    const std::size_t n = static_cast<std::size_t>(nodeCount(f.nodeOf, module, a));
    f.ops.resize(n);
    f.parents.resize(n);
    f.consumers.resize(n);
    f.messagePassing.assign(n, false);
    f.t.assign(n, 0);
    for (OpId hop : hops) f.messagePassing[static_cast<std::size_t>(f.nodeOf[hop.at()])] = true;
    for (const ir::Op& op : a.program.ops) {
        const int to = f.nodeOf[op.id.at()];
        if (to < 0) continue;
        f.ops[static_cast<std::size_t>(to)].push_back(op.id);
        f.t[static_cast<std::size_t>(to)] = std::max(f.t[static_cast<std::size_t>(to)], a.info(op.id).depthModule);
        forEachParent(a, op, [&](OpId from, ValueId) {
            const int parent = f.nodeOf[from.at()];
            if (parent < 0 || parent == to) return;
            f.parents[static_cast<std::size_t>(to)].insert(parent);
            f.consumers[static_cast<std::size_t>(parent)].insert(to);
        });
    }
    return f;
}

bool consumersAgree(const Folded& f, int node)
{
    std::set<int> labels;
    for (int c : f.consumers[static_cast<std::size_t>(node)]) labels.insert(f.t[static_cast<std::size_t>(c)]);
    return labels.size() <= 1;
}

// The nodes that moved, from the cut towards the inputs.
std::vector<int> pull(Folded& f, int start)
{
    int node = start;
    std::vector<int> moved;
    while (f.parents[static_cast<std::size_t>(node)].size() == 1) {
        const int parent = *f.parents[static_cast<std::size_t>(node)].begin();
        const std::size_t p = static_cast<std::size_t>(parent);
        const bool input = f.parents[p].empty() && !f.messagePassing[p];
        if (f.messagePassing[p] || input || !consumersAgree(f, parent)) break;
        f.t[p] = f.t[static_cast<std::size_t>(start)];
        moved.push_back(parent);
        node = parent;
    }
    return moved;
}

// The operators of the nodes, with the label of each.
RuleTrace::Labels labelled(const Folded& f, const std::vector<int>& nodes)
{
    RuleTrace::Labels labels;
    for (const int node : nodes)
        for (const OpId op : f.ops[static_cast<std::size_t>(node)]) labels[op] = f.t[static_cast<std::size_t>(node)];
    return labels;
}

RuleTrace::Labels labelled(const Folded& f)
{
    std::vector<int> all(f.t.size());
    std::iota(all.begin(), all.end(), 0);
    return labelled(f, all);
}

// Results that cross from one label to a later one.
std::set<ValueId> crossing(const Analysis& a, const Folded& f)
{
    std::set<ValueId> stored;
    for (const ir::Op& op : a.program.ops) {
        const int to = f.nodeOf[op.id.at()];
        if (to < 0) continue;
        forEachParent(a, op, [&](OpId from, ValueId v) {
            const int parent = f.nodeOf[from.at()];
            const bool crosses =
                parent >= 0 && f.t[static_cast<std::size_t>(parent)] < f.t[static_cast<std::size_t>(to)];
            if (crosses && isStorable(a, v) && !a.info(from).view) stored.insert(v);
        });
    }
    return stored;
}

}  // namespace

RuleTrace traceSourceRule(const Analysis& a)
{
    Folded f = fold(a);
    RuleTrace rule{.labels = labelled(f)};
    const std::vector<int> original = f.t;
    for (std::size_t i = 0; i < f.t.size(); ++i) {
        const bool cut = std::any_of(f.parents[i].begin(), f.parents[i].end(),
                                     [&](int p) { return original[static_cast<std::size_t>(p)] != original[i]; });
        if (!cut) continue;
        const std::vector<int> moved = pull(f, static_cast<int>(i));
        if (!moved.empty()) rule.pulls.push_back(labelled(f, moved));
    }
    rule.stored = crossing(a, f);
    return rule;
}

}  // namespace hopscope::placement

#include "analysis/depth.h"

#include <algorithm>
#include <map>

#include "analysis/rows/classes.h"
#include "analysis/rows/rules.h"
#include "operators/operators.h"

namespace hopscope::analysis {

namespace {

using ir::RowClass;
using ir::RowKind;

constexpr int never = 1 << 20;

// d(v, C): hop rounds behind value v on the rows of class C; where it cannot be computed there, at its home.
class RowDepths {
public:
    explicit RowDepths(const Analysis& a) : m_a(a) {}

    void run()
    {
        for (const ir::Op& op : m_a.program.ops)
            if (!m_a.info(op.id).structureOnly) visit(op);
    }

    RowClass home(ValueId v) const
    {
        const auto it = m_home.find(v);
        return it == m_home.end() ? RowClass{} : it->second;
    }

    int at(ValueId v, const RowClass& c) const
    {
        if (m_a.available(v)) return 0;
        const auto it = m_depth.find({v, c});
        if (it != m_depth.end() && it->second < never) return it->second;
        const auto best = m_depth.find({v, home(v)});
        return best == m_depth.end() ? 0 : best->second;
    }

    // The class on which v is really computed when it is wanted on c.
    RowClass computed(ValueId v, const RowClass& c) const
    {
        const auto it = m_depth.find({v, c});
        return it != m_depth.end() && it->second < never ? c : home(v);
    }

private:
    std::vector<RowClass> classesOf(ValueId v) const
    {
        const SpaceId s = m_a.rowSpace(v);
        if (!s.valid()) return {RowClass{}};
        std::vector<RowClass> classes = partitions(m_a, s);
        if (m_a.tables.space(s).kind == SpaceKind::Node) classes.push_back(RowClass{RowKind::Frontier, s, {}});
        return classes;
    }

    int depthOn(const ir::Op& op, const RowClass& c) const
    {
        const auto operands = operandRows(m_a, op.id, c);
        if (!operands) return never;
        int depth = 0;
        for (const OperandRows& o : *operands) {
            if (m_a.program.value(o.value).kind != ir::ValueKind::Tensor) continue;
            depth = std::max(depth, at(o.value, o.rows) + (o.gatherSpace.valid() ? 1 : 0));
        }
        return depth;
    }

    void visit(const ir::Op& op)
    {
        if (m_a.info(op.id).kind == OpKind::Reduce) return visitReduction(op);
        for (ValueId v : op.outputs) {
            int best = never;
            for (const RowClass& c : classesOf(v)) {
                const int d = depthOn(op, c);
                m_depth[{v, c}] = d;
                if (c.kind == RowKind::Frontier || d >= best) continue;
                best = d;
                m_home[v] = c;
            }
        }
    }

    void visitReduction(const ir::Op& op)
    {
        int depth = 0;
        ir::forEachOperand(op, [&](Slot s, ValueId v) {
            if (m_a.info(op.id).use(s).use != Use::Shape && m_a.program.value(v).kind == ir::ValueKind::Tensor)
                depth = std::max(depth, at(v, home(v)));
        });
        for (ValueId v : op.outputs) {
            m_depth[{v, RowClass{}}] = depth;
            m_home[v] = RowClass{};
        }
    }

    const Analysis& m_a;
    std::map<std::pair<ValueId, RowClass>, int> m_depth;
    std::map<ValueId, RowClass> m_home;
};

struct Demanded {
    std::vector<int> depth;  // per operator, on the rows where it is used; -1: never used
    std::vector<bool> hop;   // gathers over a hop there
};

// Walks back from the outputs: on which rows each operator is really wanted.
Demanded demand(const Analysis& a, const RowDepths& depths)
{
    std::map<ValueId, std::set<RowClass>> wanted;
    for (const ir::NamedValue& o : a.program.outputs) wanted[o.value].insert(depths.home(o.value));
    Demanded result{std::vector<int>(a.program.ops.size(), -1), std::vector<bool>(a.program.ops.size(), false)};
    for (auto op = a.program.ops.rbegin(); op != a.program.ops.rend(); ++op) {
        if (a.info(op->id).structureOnly) continue;
        std::set<RowClass> classes;
        for (ValueId v : op->outputs)
            for (const RowClass& c : wanted[v]) classes.insert(depths.computed(v, c));
        for (const RowClass& c : classes) {
            int& depth = result.depth[op->id.at()];
            depth = std::max(depth, depths.at(op->outputs[0], c));
            const bool reduction = a.info(op->id).kind == OpKind::Reduce;
            for (const OperandRows& o : operandRows(a, op->id, c).value_or(std::vector<OperandRows>{})) {
                wanted[o.value].insert(reduction ? depths.home(o.value) : o.rows);
                if (o.gatherSpace.valid()) result.hop[op->id.at()] = true;
            }
        }
    }
    return result;
}

Demanded demandOf(const Analysis& a)
{
    RowDepths depths(a);
    depths.run();
    return demand(a, depths);
}

bool sparseProduct(const Analysis& a, const ir::Op& op)
{
    bool sparse = false;
    ir::forEachOperand(op, [&](Slot s, ValueId) { sparse = sparse || a.info(op.id).use(s).use == Use::SparseMatrix; });
    return sparse;
}

void fillDepthOp(Analysis& a)
{
    std::vector<int> behind(a.program.values.size(), 0);
    for (const ir::Op& op : a.program.ops) {
        int depth = 0;
        ir::forEachOperand(op, [&](Slot s, ValueId v) {
            if (a.info(op.id).use(s).use != Use::Shape) depth = std::max(depth, behind[v.at()]);
        });
        OpInfo& info = a.ops[op.id.at()];
        info.depthOp = depth + (operators::of(op.name).traits.aggregates || sparseProduct(a, op) ? 1 : 0);
        for (ValueId v : op.outputs) behind[v.at()] = info.depthOp;
    }
}

using Prefix = std::vector<std::pair<std::string, std::int32_t>>;

Prefix prefixOf(const ir::Op& op, std::size_t length)
{
    Prefix p;
    for (std::size_t i = 0; i < length; ++i) p.emplace_back(op.modules[i].name, op.modules[i].call);
    return p;
}

// One pass of d_i over the folded graph; true if something grew.
bool relaxModuleDepths(Analysis& a, const std::vector<int>& module, const std::vector<bool>& hop,
                       std::vector<int>& enter)
{
    bool grew = false;
    for (const ir::Op& op : a.program.ops) {
        OpInfo& info = a.ops[op.id.at()];
        if (info.structureOnly) continue;
        const int m = module[op.id.at()];
        int outside = 0;
        ir::forEachOperand(op, [&](Slot s, ValueId v) {
            const OpId from = a.program.value(v).producer;
            if (!from.valid() || a.available(v) || info.use(s).use == Use::Shape) return;
            if (m < 0 || module[from.at()] != m) outside = std::max(outside, a.info(from).depthModule);
        });
        if (m >= 0) enter[static_cast<std::size_t>(m)] = std::max(enter[static_cast<std::size_t>(m)], outside);
        const int depth = m >= 0 ? enter[static_cast<std::size_t>(m)] + 1 : outside + (hop[op.id.at()] ? 1 : 0);
        grew = grew || depth > info.depthModule;
        info.depthModule = std::max(info.depthModule, depth);
    }
    return grew;
}

}  // namespace

std::vector<OpId> hopOperators(const Analysis& a)
{
    const Demanded d = demandOf(a);
    std::vector<OpId> hops;
    for (std::size_t i = 0; i < d.hop.size(); ++i)
        if (d.hop[i]) hops.emplace_back(i);
    return hops;
}

std::vector<int> messagePassingModules(const Analysis& a, const std::vector<OpId>& hops)
{
    std::map<Prefix, std::set<int>> rounds;  // module call -> depths of its hops
    for (OpId id : hops)
        for (std::size_t n = 1; n <= a.program.op(id).modules.size(); ++n)
            rounds[prefixOf(a.program.op(id), n)].insert(a.info(id).depth);
    std::map<Prefix, int> numbers;
    std::vector<int> module(a.program.ops.size(), -1);
    for (const ir::Op& op : a.program.ops)
        for (std::size_t n = 1; n <= op.modules.size(); ++n) {
            const Prefix p = prefixOf(op, n);
            const auto it = rounds.find(p);
            if (it == rounds.end() || it->second.size() != 1) continue;
            module[op.id.at()] = numbers.emplace(p, static_cast<int>(numbers.size())).first->second;
            break;
        }
    return module;
}

void computeDepths(Analysis& a)
{
    fillDepthOp(a);
    const Demanded d = demandOf(a);
    std::vector<OpId> hops;
    for (std::size_t i = 0; i < d.depth.size(); ++i) {
        a.ops[i].depth = std::max(d.depth[i], 0);
        if (d.hop[i]) hops.emplace_back(i);
    }
    const std::vector<int> module = messagePassingModules(a, hops);
    std::vector<int> enter(a.program.ops.size(), 0);
    for (int pass = 0; pass < 50 && relaxModuleDepths(a, module, d.hop, enter); ++pass) {}
    for (const ir::NamedValue& o : a.program.outputs) {
        const OpId from = a.program.value(o.value).producer;
        if (!from.valid()) continue;
        a.depth = std::max(a.depth, a.info(from).depth);
        a.depthModule = std::max(a.depthModule, a.info(from).depthModule);
        a.depthOp = std::max(a.depthOp, a.info(from).depthOp);
    }
}

}  // namespace hopscope::analysis

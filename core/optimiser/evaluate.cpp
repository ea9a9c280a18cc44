#include "optimiser/evaluate.h"

#include <algorithm>
#include <set>

#include "optimiser/bounds.h"

namespace hopscope::optimiser {

namespace {

// Goes through the stages in order and keeps track of the values on the host and of the rows on which a stage has
// values. Needs no order of the nodes: in a graph without cycles it is enough that all operands are available.
class Judge {
public:
    Judge(const Instance& instance, const EvaluateOptions& options)
        : m_in(instance),
          m_options(options),
          m_bounds(instance, options.pins),
          m_types(instance.types.size()),
          m_written(instance.nodes.size(), never),
          m_hopStage(m_written),
          m_computed(instance.nodes.size(), 0),
          m_onD(m_written),
          m_readD(m_written),
          m_onF(instance.nodes.size() * m_types, never),
          m_readF(m_onF)
    {}

    base::Result<Cost> judge(const Placement& placement)
    {
        int before = -1;
        for (const StagePlacement& s : placement.stages) {
            if (s.stage <= before) note("stages are not in ascending order");
            before = s.stage;
            stage(s);
            if (!m_flaw.empty()) return flaw("stage " + std::to_string(s.stage) + ": ");
        }
        finish(placement);
        if (!m_flaw.empty()) return flaw("");
        return m_cost;
    }

private:
    static constexpr int never = -1;
    [[nodiscard]] tl::unexpected<base::Error> flaw(const std::string& where) const
    {
        return base::fail(base::ErrorCode::Unsupported, "the placement is not legal: " + where + m_flaw);
    }
    void note(const std::string& what)
    {
        if (m_flaw.empty()) m_flaw = what;
    }
    [[nodiscard]] std::string name(NodeId v) const { return "'" + m_in.node(v).name + "'"; }
    [[nodiscard]] bool isHop(NodeId v) const { return m_in.node(v).kind == NodeKind::Hop; }
    [[nodiscard]] std::size_t cell(NodeId v, TypeId t) const { return v.at() * m_types + t.at(); }
    [[nodiscard]] std::size_t own(NodeId v) const { return cell(v, m_in.node(v).type); }
    [[nodiscard]] bool onD(NodeId v) const { return m_onD[v.at()] == m_stage || onF(own(v)); }
    [[nodiscard]] bool onF(std::size_t cell) const { return m_onF[cell] == m_stage; }
    [[nodiscard]] bool readD(NodeId v) const { return m_readD[v.at()] == m_stage; }
    [[nodiscard]] bool readF(std::size_t cell) const { return m_readF[cell] == m_stage; }
    [[nodiscard]] bool mustRead(NodeId u, NodeId v) const { return m_bounds.isCut(u.index, v.index); }

    void stage(const StagePlacement& s)
    {
        m_stage = s.stage;
        if (s.stage < (m_in.allowStage0 ? 0 : 1) || s.stage > m_in.stages) note("no such stage");
        if (s.stage == 0 && !(s.hops.empty() && s.computeF.empty() && s.readF.empty()))
            note("stage 0 cannot have hops or frontier rows");
        if (s.hops.empty() && s.computeD.empty() && s.computeF.empty()) note("nothing is computed");
        reads(s);
        computations(s);
        for (const NodeId v : s.written) write(v);
        relations(s);
        m_cost.stage += m_in.stageCost;
    }

    void checkReadable(NodeId v)
    {
        const bool there = m_in.node(v).kind == NodeKind::Input || m_written[v.at()] != never;
        if (!there) note(name(v) + " is read before it is written");
    }

    void reads(const StagePlacement& s)
    {
        for (const auto& [v, t] : s.readF) {
            checkReadable(v);
            m_onF[cell(v, t)] = m_readF[cell(v, t)] = m_stage;
            m_cost.read += readCostF(m_in.node(v), t);
        }
        for (const NodeId v : s.readD) {
            checkReadable(v);
            m_onD[v.at()] = m_readD[v.at()] = m_stage;
            m_cost.read += m_in.node(v).readD;
        }
    }

    // First marks all values that are available in the end, then checks that each could be computed.
    void computations(const StagePlacement& s)
    {
        for (const OnFrontier& c : s.computeF) addF(c);
        for (const auto* list : {&s.hops, &s.computeD})
            for (const NodeId v : *list) addD(v);
        for (const OnFrontier& c : s.computeF) checkF(c.node, c.type);
        for (const auto* list : {&s.hops, &s.computeD})
            for (const NodeId v : *list) checkD(v);
        for (const NodeId v : s.hops)
            if (!isHop(v)) note(name(v) + " is listed as a hop and is none");
        for (const NodeId v : s.computeD)
            if (isHop(v)) note(name(v) + " is a hop and is not listed as one");
    }

    void add(NodeId v, bool again, double cost)
    {
        if (again) note(name(v) + " is computed or read twice on the same rows");
        ++m_computed[v.at()];
        m_cost.compute += cost;
    }

    void addF(const OnFrontier& c)
    {
        add(c.node, onF(cell(c.node, c.type)), computeCostF(m_in.node(c.node), c.type));
        m_onF[cell(c.node, c.type)] = m_stage;
    }

    void addD(NodeId v)
    {
        add(v, onD(v), m_in.node(v).computeD);
        m_onD[v.at()] = m_stage;
        if (!isHop(v)) return;
        if (m_hopStage[v.at()] != never) note(name(v) + " runs twice");
        m_hopStage[v.at()] = m_stage;
    }

    [[nodiscard]] bool fitsFrontier(NodeId v) const
    {
        const Node& node = m_in.node(v);
        const auto nodeRows = [this](NodeId u) { return m_in.node(u).rows == RowKind::Node; };
        return node.kind == NodeKind::Op && node.rows == RowKind::Node && std::ranges::all_of(node.loc, nodeRows);
    }

    void checkF(NodeId v, TypeId t)
    {
        if (!fitsFrontier(v)) note(name(v) + " cannot be computed on frontier rows");
        for (const NodeId u : m_in.node(v).loc) checkOnFrontier(v, u, t);
    }

    void checkOnFrontier(NodeId v, NodeId u, TypeId t)
    {
        if (!onF(cell(u, t))) note(name(v) + " lacks " + name(u) + " on the frontier");
        if (mustRead(u, v) && !readF(cell(u, t))) note(name(v) + " does not read " + name(u));
    }

    void checkD(NodeId v)
    {
        const Node& node = m_in.node(v);
        if (node.kind == NodeKind::Input) note(name(v) + " is an input");
        for (const NodeId u : node.src) checkOnFrontier(v, u, node.type);
        for (const NodeId u : node.loc) {
            if (!onD(u)) note(name(v) + " lacks " + name(u));
            if (mustRead(u, v) && !readD(u) && !readF(own(u))) note(name(v) + " does not read " + name(u));
        }
    }

    void write(NodeId v)
    {
        const bool computed = (m_onD[v.at()] == m_stage && !readD(v)) || (onF(own(v)) && !readF(own(v)));
        if (m_in.node(v).kind == NodeKind::Input || !computed)
            note(name(v) + " is written but not computed on all rows");
        if (m_written[v.at()] != never) note(name(v) + " is written twice");
        m_written[v.at()] = m_stage;
        m_cost.write += m_in.node(v).write;
    }

    void relations(const StagePlacement& s)
    {
        std::set<RelationId> loaded;
        for (const NodeId v : s.hops) loaded.insert(m_in.node(v).relation);
        for (const RelationId r : loaded)
            if (r.valid()) m_cost.structure += m_in.relations[r.at()].structureCost;
    }

    void finish(const Placement& placement)
    {
        for (std::size_t v = 0; v < m_in.nodes.size(); ++v) finish(NodeId(v));
        const std::optional<double>& budget = m_in.hostBudget;
        if (m_flaw.empty() && m_options.budget && budget && hostPeak(m_in, placement) > *budget * (1 + 1e-9) + 1e-9)
            note("the host memory budget is exceeded");
    }

    void finish(NodeId node)
    {
        const std::size_t v = node.at();
        const bool written = m_written[v] != never;
        if (isHop(node) && m_hopStage[v] == never) note(name(node) + " never runs");
        if (m_bounds.output[v] && !written) note("the output " + name(node) + " is not written");
        if (m_bounds.pinned[v] && !written) note(name(node) + " is not written, but a pin requires it to be stored");
        if (m_bounds.forbidden[v] && written) note(name(node) + " is written, but a pin forbids storing it");
        if (written && !m_bounds.mayStore[v]) note(name(node) + " cannot be stored");
        if (m_bounds.once[v] && m_computed[v] > 1)
            note(name(node) + " is computed more than once, which a pin or the instance forbids");
        if (m_bounds.stagePin[v] != never && m_bounds.stagePin[v] != m_hopStage[v])
            note(name(node) + " does not run in the stage that a pin gives it");
    }

    const Instance& m_in;
    EvaluateOptions m_options;
    Bounds m_bounds;
    std::size_t m_types;
    Cost m_cost;
    std::string m_flaw;
    int m_stage = 0;
    std::vector<int> m_written, m_hopStage, m_computed;  // by node
    std::vector<int> m_onD, m_readD, m_onF, m_readF;     // the last stage in which it is there, was read
};

}  // namespace

base::Result<Cost> evaluate(const Instance& instance, const Placement& placement, const EvaluateOptions& options)
{
    return Judge(instance, options).judge(placement);
}

double hostPeak(const Instance& instance, const Placement& placement)
{
    const std::vector<int> written = writeStages(instance, placement);
    const std::vector<int> last = lastReads(instance, placement);
    int stages = instance.stages;
    if (!placement.stages.empty()) stages = std::max(stages, placement.stages.back().stage);
    std::vector<double> change(static_cast<std::size_t>(stages) + 2, 0);
    std::vector<std::uint8_t> output(instance.nodes.size(), 0);
    for (const NodeId o : instance.outputs) output[o.at()] = 1;
    for (std::size_t v = 0; v < written.size(); ++v) {
        if (written[v] < 0) continue;
        const int end = output[v] ? stages : std::max(written[v], last[v]);
        change[static_cast<std::size_t>(written[v])] += instance.nodes[v].size;
        change[static_cast<std::size_t>(end) + 1] -= instance.nodes[v].size;
    }
    double peak = 0, now = 0;
    for (const double c : change) peak = std::max(peak, now += c);
    return peak;
}

}  // namespace hopscope::optimiser

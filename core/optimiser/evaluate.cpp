#include "optimiser/evaluate.h"

#include <algorithm>
#include <set>

#include "optimiser/graph.h"

namespace hopscope::optimiser {

namespace {

// Goes through the stages in order and keeps what is on the host and, within a stage, on which rows values are there.
class Judge {
public:
    Judge(const Instance& instance, const EvaluateOptions& options)
        : m_plain(withoutPins(instance, options)),
          m_graph(m_plain),
          m_options(options)
    {
        const std::size_t size = instance.nodes.size();
        m_written.assign(size, Graph::never);
        m_hopStage.assign(size, Graph::never);
        m_computed.assign(size, 0);
    }

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
    static Instance withoutPins(Instance instance, const EvaluateOptions& options)
    {
        if (!options.pins) instance.pins.clear();
        return instance;
    }
    [[nodiscard]] tl::unexpected<base::Error> flaw(const std::string& where) const
    {
        return base::fail(base::ErrorCode::Unsupported, "the placement is not legal: " + where + m_flaw);
    }
    void note(const std::string& what)
    {
        if (m_flaw.empty()) m_flaw = what;
    }
    [[nodiscard]] std::string name(int v) const { return "'" + m_graph.node(v).name + "'"; }
    [[nodiscard]] std::size_t cell(int v, int t) const { return static_cast<std::size_t>(v) * m_graph.types + t; }
    [[nodiscard]] bool onD(int v) const { return m_onD[v] || m_onF[cell(v, m_graph.type(v))]; }

    void stage(const StagePlacement& s)
    {
        m_stage = s.stage;
        m_onD.assign(m_graph.in.nodes.size(), 0);
        m_onF.assign(m_graph.in.nodes.size() * static_cast<std::size_t>(m_graph.types), 0);
        m_readD = m_onD;
        m_readF = m_onF;
        if (s.stage < m_graph.first || s.stage > m_graph.last) note("no such stage");
        if (s.stage == 0 && !(s.hops.empty() && s.computeF.empty() && s.readF.empty()))
            note("stage 0 has neither hops nor frontier rows");
        if (s.hops.empty() && s.computeD.empty() && s.computeF.empty()) note("nothing is computed");
        reads(s);
        computations(s);
        for (const NodeId v : s.written) write(v.index);
        relations(s);
        m_cost.stage += m_graph.in.stageCost;
    }

    void checkReadable(int v)
    {
        const bool there = m_graph.isInput(v) || (m_written[v] != Graph::never && m_written[v] < m_stage);
        if (!there) note(name(v) + " is read before it is written");
    }

    void reads(const StagePlacement& s)
    {
        for (const auto& [v, t] : s.readF) {
            checkReadable(v.index);
            m_onF[cell(v.index, t.index)] = m_readF[cell(v.index, t.index)] = 1;
            m_cost.read += readCostF(m_graph.in.node(v), t);
        }
        for (const NodeId v : s.readD) {
            checkReadable(v.index);
            m_onD[v.at()] = m_readD[v.at()] = 1;
            m_cost.read += m_graph.in.node(v).readD;
        }
    }

    // Frontier rows (type) and D rows (none), operands first.
    void computations(const StagePlacement& s)
    {
        std::vector<std::pair<int, OnFrontier>> cells;
        for (const auto& list : {s.hops, s.computeD})
            for (const NodeId v : list) cells.emplace_back(m_graph.position[v.at()], OnFrontier{v, TypeId()});
        for (const OnFrontier& c : s.computeF) cells.emplace_back(m_graph.position[c.node.at()], c);
        std::ranges::sort(cells, [](const auto& a, const auto& b) {
            return std::pair(a.first, !a.second.type.valid()) < std::pair(b.first, !b.second.type.valid());
        });
        for (const auto& [position, c] : cells)
            if (c.type.valid()) computeF(c.node.index, c.type.index);
            else computeD(c.node.index);
        for (const NodeId v : s.hops)
            if (!m_graph.isHop(v.index)) note(name(v.index) + " is listed as a hop");
        for (const NodeId v : s.computeD)
            if (m_graph.isHop(v.index)) note(name(v.index) + " is a hop");
    }

    void computeF(int v, int t)
    {
        if (!m_graph.frontier[v]) note(name(v) + " cannot be computed on frontier rows");
        for (const NodeId u : m_graph.node(v).loc) {
            const std::size_t at = cell(u.index, t);
            if (!m_onF[at]) note(name(v) + " lacks " + name(u.index) + " on the frontier");
            if (m_graph.isCut(u.index, v) && !m_readF[at]) note(name(v) + " does not read " + name(u.index));
        }
        if (m_onF[cell(v, t)]) note(name(v) + " is computed or read twice on the same rows");
        m_onF[cell(v, t)] = 1;
        ++m_computed[v];
        m_cost.compute += m_graph.computeF(v, t);
    }

    void computeD(int v)
    {
        const int own = m_graph.type(v);
        if (m_graph.isInput(v)) note(name(v) + " is an input");
        for (const NodeId u : m_graph.node(v).src) {
            if (!m_onF[cell(u.index, own)]) note(name(v) + " lacks " + name(u.index) + " on the frontier");
            if (m_graph.isCut(u.index, v) && !m_readF[cell(u.index, own)])
                note(name(v) + " does not read " + name(u.index));
        }
        for (const NodeId u : m_graph.node(v).loc) {
            if (!onD(u.index)) note(name(v) + " lacks " + name(u.index));
            const bool read = m_readD[u.at()] || m_readF[cell(u.index, m_graph.type(u.index))];
            if (m_graph.isCut(u.index, v) && !read) note(name(v) + " does not read " + name(u.index));
        }
        if (onD(v)) note(name(v) + " is computed or read twice on the same rows");
        if (m_graph.isHop(v)) runHop(v);
        m_onD[v] = 1;
        ++m_computed[v];
        m_cost.compute += m_graph.node(v).computeD;
    }

    void runHop(int v)
    {
        if (m_hopStage[v] != Graph::never) note(name(v) + " runs twice");
        m_hopStage[v] = m_stage;
    }

    void write(int v)
    {
        const std::size_t own = cell(v, m_graph.type(v));
        const bool computed = (m_onD[v] && !m_readD[v]) || (m_onF[own] && !m_readF[own]);
        if (m_graph.isInput(v) || !computed) note(name(v) + " is written but not computed on all rows");
        if (m_written[v] != Graph::never) note(name(v) + " is written twice");
        m_written[v] = m_stage;
        m_cost.write += m_graph.node(v).write;
    }

    void relations(const StagePlacement& s)
    {
        std::set<RelationId> loaded;
        for (const NodeId v : s.hops) loaded.insert(m_graph.in.node(v).relation);
        for (const RelationId r : loaded)
            if (r.valid()) m_cost.structure += m_graph.in.relations[r.at()].structureCost;
    }

    void finish(const Placement& placement)
    {
        for (int v = 0; v < m_graph.count; ++v) {
            const bool written = m_written[v] != Graph::never;
            if (m_graph.isHop(v) && m_hopStage[v] == Graph::never) note(name(v) + " never runs");
            if (m_graph.output[v] && !written) note("the output " + name(v) + " is not written");
            if (written && m_graph.node(v).noCheckpoint && !m_graph.output[v]) note(name(v) + " cannot be stored");
            if (m_graph.once[v] && m_computed[v] > 1) note(name(v) + " is computed more than once");
        }
        for (const Pin& pin : m_graph.in.pins) checkPin(pin);
        const std::optional<double>& budget = m_graph.in.hostBudget;
        if (m_flaw.empty() && m_options.budget && budget &&
            hostPeak(m_graph.in, placement) > *budget * (1 + 1e-9) + 1e-9)
            note("the host memory budget is exceeded");
    }

    void checkPin(const Pin& pin)
    {
        const int v = pin.node.index;
        const bool written = !m_graph.isInput(v) && m_written[v] != Graph::never;
        const bool broken = (pin.kind == PinKind::Checkpoint && !written) ||
                            (pin.kind == PinKind::NoCheckpoint && written) ||
                            (pin.kind == PinKind::HopStage && m_hopStage[v] != pin.stage);
        if (broken) note("the pin '" + describePin(m_graph.in, pin) + "' is violated");
    }

    Instance m_plain;
    Graph m_graph;
    EvaluateOptions m_options;
    Cost m_cost;
    std::string m_flaw;
    int m_stage = 0;
    std::vector<int> m_written, m_hopStage, m_computed;
    std::vector<std::uint8_t> m_onD, m_onF, m_readD, m_readF;
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

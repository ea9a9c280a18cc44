#include "optimiser/explain.h"

#include <algorithm>
#include <chrono>

#include "optimiser/graph.h"

namespace hopscope::optimiser {

namespace {

// The costs and stages of each value in a placement.
struct Account {
    std::vector<double> write, read, compute;  // by node
    std::vector<std::vector<int>> readIn, computedIn;

    Account(const Instance& in, const Placement& placement)
        : write(in.nodes.size(), 0),
          read(write),
          compute(write),
          readIn(in.nodes.size()),
          computedIn(in.nodes.size())
    {
        for (const StagePlacement& s : placement.stages) add(in, s);
    }

private:
    static void once(std::vector<int>& stages, int stage)
    {
        if (stages.empty() || stages.back() != stage) stages.push_back(stage);
    }

    void add(const Instance& in, const StagePlacement& s)
    {
        for (const NodeId v : s.written) write[v.at()] += in.node(v).write;
        for (const NodeId v : s.readD) read[v.at()] += in.node(v).readD, once(readIn[v.at()], s.stage);
        for (const auto& [v, t] : s.readF) read[v.at()] += readCostF(in.node(v), t), once(readIn[v.at()], s.stage);
        for (const auto& list : {s.hops, s.computeD})
            for (const NodeId v : list) compute[v.at()] += in.node(v).computeD, once(computedIn[v.at()], s.stage);
        for (const auto& [v, t] : s.computeF)
            compute[v.at()] += computeCostF(in.node(v), t), once(computedIn[v.at()], s.stage);
    }
};

class Explainer {
public:
    Explainer(const Instance& instance, const Placement& placement, const ReoptimiseOptions& options)
        : m_in(instance),
          m_placement(placement),
          m_options(options),
          m_began(std::chrono::steady_clock::now()),
          m_account(instance, placement),
          m_graph(instance),
          m_earliest(depths(instance))
    {}

    base::Result<std::vector<Explanation>> run()
    {
        const std::vector<int> written = writeStages(m_in, m_placement);
        for (const int v : m_graph.order) {
            if (m_graph.isInput(v)) continue;
            const std::vector<int>& computed = m_account.computedIn[v];
            if (written[v] >= 0 && !m_graph.output[v])
                add(DecisionKind::Stored, v, m_account.readIn[v],
                    {.kind = PinKind::NoCheckpoint, .node = NodeId(v), .consumer = {}, .stage = 0});
            if (!m_graph.isHop(v) && computed.size() > 1)
                add(DecisionKind::Recomputed, v, computed,
                    {.kind = PinKind::NoRecompute, .node = NodeId(v), .consumer = {}, .stage = 0});
            if (m_graph.isHop(v) && !computed.empty() && computed[0] > m_earliest[v])
                add(DecisionKind::Delayed, v, computed,
                    {.kind = PinKind::HopStage, .node = NodeId(v), .consumer = {}, .stage = m_earliest[v]});
            if (m_options.stop.stop_requested()) return base::fail(base::ErrorCode::Cancelled, "stopped");
        }
        std::ranges::stable_sort(m_found, {},
                                 [&](const Explanation& e) { return m_account.computedIn[e.node.at()].front(); });
        return std::move(m_found);
    }

private:
    // The instance without the user's own pins of this kind on the node, and with the opposite decision.
    [[nodiscard]] Instance otherwise(const Pin& pin) const
    {
        Instance in = m_in;
        std::erase_if(in.pins, [&](const Pin& p) {
            const bool store = base::isStoring(p.kind) && base::isStoring(pin.kind);
            return p.node == pin.node && (p.kind == pin.kind || store);
        });
        in.pins.push_back(pin);
        return in;
    }

    void add(DecisionKind kind, int v, const std::vector<int>& stages, const Pin& opposite)
    {
        Explanation e{.kind = kind,
                      .node = NodeId(v),
                      .write = m_account.write[v],
                      .read = m_account.read[v],
                      .compute = m_account.compute[v],
                      .stages = stages,
                      .possible = true,
                      .alternative = {},
                      .saves = 0};
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - m_began;
        ReoptimiseOptions options = m_options;
        options.deadlineSeconds -= used.count();
        if (options.deadlineSeconds > 0) {
            const base::Result<Answer> other = reoptimise(otherwise(opposite), m_placement, {opposite}, options);
            e.possible = !other || other->status != Status::Infeasible;
            if (other && e.possible) e.alternative = other->placement.cost.total();
        }
        if (e.alternative) e.saves = *e.alternative - m_placement.cost.total();
        m_found.push_back(std::move(e));
    }

    const Instance& m_in;
    const Placement& m_placement;
    const ReoptimiseOptions& m_options;
    std::chrono::steady_clock::time_point m_began;
    Account m_account;
    Graph m_graph;
    std::vector<int> m_earliest;
    std::vector<Explanation> m_found;
};

}  // namespace

base::Result<std::vector<Explanation>> explain(const Instance& instance, const Placement& placement,
                                               const ReoptimiseOptions& options)
{
    return Explainer(instance, placement, options).run();
}

}  // namespace hopscope::optimiser

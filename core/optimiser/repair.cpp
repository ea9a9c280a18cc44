#include "optimiser/repair.h"

#include <algorithm>
#include <limits>

#include "optimiser/completion.h"
#include "optimiser/evaluate.h"

namespace hopscope::optimiser {

namespace {

constexpr int mostRounds = 100;
constexpr int mostTrials = 4;
constexpr double impossible = std::numeric_limits<double>::infinity();
constexpr int nowhere = std::numeric_limits<int>::max() / 2;  // a stage that there is not

class Repairer {
public:
    Repairer(const Instance& instance, const Placement& incumbent)
        : m_instance(instance),
          m_graph(instance),
          m_completion(m_graph),
          m_choice(m_completion.plain()),
          m_before(cellsOf(m_graph, incumbent)),
          m_now(m_graph)
    {
        for (const StagePlacement& s : incumbent.stages) {
            for (const NodeId v : s.hops) m_choice.hopStage[v.at()] = s.stage;
            for (const NodeId v : s.written) keep(v.index, s.stage);
        }
    }

    std::optional<Placement> run()
    {
        if (m_graph.impossible() || !delayHops()) return std::nullopt;
        double cost = impossible;
        for (int round = 0; (cost = evaluated()) == impossible; ++round)
            if (round == mostRounds || !storeFrom(m_completion.stuckAt())) return std::nullopt;
        storeRepeated(cost);
        return placement();
    }

private:
    void keep(int v, int stage)
    {
        if (!m_graph.mayStore[v]) return;
        m_choice.stored[v] = 1;
        m_choice.writeStage[v] = stage;
    }

    double evaluated()
    {
        m_now = Cells(m_graph);
        return m_completion.evaluate(m_choice, &m_now, &m_before);
    }

    // Delays hops until their operands can be available; false where a hop would run later than it may.
    bool delayHops()
    {
        m_onD.assign(m_choice.hopStage.size(), m_graph.first);
        m_onF.assign(m_onD.size(), 1);
        return std::ranges::all_of(m_graph.order, [this](int v) { return m_graph.isInput(v) || place(v); });
    }

    bool place(int v)
    {
        int onD = m_graph.first, onF = 1;
        for (const NodeId u : m_graph.node(v).src) onD = std::max(onD, frontierStage(u.index, v));
        for (const NodeId u : m_graph.node(v).loc) {
            onD = std::max(onD, m_graph.isCut(u.index, v) ? readStage(u.index) : m_onD[u.at()]);
            onF = std::max(onF, frontierStage(u.index, v));
        }
        if (m_graph.isHop(v))
            onD = m_choice.hopStage[v] = std::max(onD, std::min(m_choice.hopStage[v], m_graph.latest[v]));
        m_onD[v] = onD;
        m_onF[v] = std::min(m_graph.mayStore[v] ? readStage(v) : nowhere, m_graph.frontier[v] ? onF : nowhere);
        return !m_graph.isHop(v) || onD <= m_graph.latest[v];
    }

    // The first stage in which its store can be read.
    [[nodiscard]] int readStage(int u) const
    {
        return m_graph.isInput(u) ? m_graph.first : std::max(m_onD[u], m_choice.writeStage[u]) + 1;
    }
    [[nodiscard]] int frontierStage(int u, int consumer) const
    {
        return std::max(1, m_graph.isCut(u, consumer) ? readStage(u) : m_onF[u]);
    }

    // Stores the value `stuck`, or the first values after it that may be stored; false where they are stored already.
    bool storeFrom(int stuck)
    {
        std::vector<int> open{stuck};
        std::vector<std::uint8_t> seen(m_choice.stored.size(), 0);
        bool added = false;
        while (!open.empty()) {
            const int v = open.back();
            open.pop_back();
            if (seen[v]) continue;
            seen[v] = 1;
            if (m_graph.mayStore[v]) {
                added = added || m_choice.stored[v] == 0;
                m_choice.stored[v] = 1;
            } else
                for (const int c : m_graph.consumers[v])
                    if (!m_graph.isHop(c)) open.push_back(c);
        }
        return added;
    }

    // How often a value is computed.
    [[nodiscard]] int times(const Cells& cells, int v) const
    {
        int sum = 0;
        for (int s = m_graph.first; s <= m_graph.last; ++s) {
            sum += cells.computeD[cells.at.d(v, s)];
            for (int t = 0; t < m_graph.types; ++t) sum += cells.computeF[cells.at.f(v, t, s)];
        }
        return sum;
    }

    // Stores values that the repair computes more often than the incumbent, the last of each chain, if that is cheaper.
    void storeRepeated(double cost)
    {
        std::vector<std::uint8_t> repeated(m_choice.stored.size(), 0);
        for (const int v : m_graph.order) repeated[v] = times(m_now, v) > times(m_before, v);
        int trials = 0;
        for (std::size_t i = m_graph.order.size(); i-- > 0 && trials < mostTrials;) {
            const int v = m_graph.order[i];
            const auto once = [&](int c) { return !repeated[c]; };
            if (!repeated[v] || !m_graph.mayStore[v] || m_choice.stored[v]) continue;
            if (std::ranges::none_of(m_graph.consumers[v], once)) continue;
            ++trials;
            m_choice.stored[v] = 1;
            const double now = m_completion.evaluate(m_choice, nullptr, &m_before);
            m_choice.stored[v] = now < cost;
            cost = std::min(cost, now);
        }
        if (trials > 0) evaluated();
    }

    [[nodiscard]] std::optional<Placement> placement() const
    {
        base::Result<Placement> made = realise(m_graph, m_now);
        if (!made || !evaluate(m_instance, *made)) return std::nullopt;
        return std::move(*made);
    }

    const Instance& m_instance;
    Graph m_graph;
    Completion m_completion;
    Choice m_choice;
    Cells m_before, m_now;          // of the incumbent and of the repair
    std::vector<int> m_onD, m_onF;  // by node: the first stage in which it can be there on D, on frontier rows
};

}  // namespace

std::optional<Placement> repaired(const Instance& instance, const Placement& incumbent)
{
    return Repairer(instance, incumbent).run();
}

}  // namespace hopscope::optimiser

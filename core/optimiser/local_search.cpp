#include "optimiser/local_search.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "optimiser/completion.h"

namespace hopscope::optimiser {

namespace {

using Clock = std::chrono::steady_clock;
constexpr double impossible = std::numeric_limits<double>::infinity();

class Search {
public:
    Search(const Graph& g, const SearchLimits& limits)
        : m_g(g),
          m_limits(limits),
          m_began(Clock::now()),
          m_completion(g),
          m_choice(m_completion.plain()),
          m_seen(static_cast<std::size_t>(g.count), 0)
    {
        for (int v = 0; v < g.count; ++v) {
            if (g.mayStore[v] && !g.mustWrite(v)) m_candidates.push_back(v);
            if (g.isHop(v) && g.latest[v] > g.earliest[v]) m_hops.push_back(v);
            else if (g.mayStore[v] && !g.isHop(v)) m_movable.push_back(v);
        }
    }

    std::optional<Placement> run()
    {
        start();
        descend();
        if (m_limits.thorough && m_cost < impossible) perturb();
        if (m_cost == impossible) return std::nullopt;
        Cells cells(m_g);
        m_completion.evaluate(m_choice, &cells);
        const base::Result<Placement> placement = realise(m_g, cells);
        return placement ? std::optional(*placement) : std::nullopt;
    }

private:
    [[nodiscard]] bool over() const
    {
        const std::chrono::duration<double> used = Clock::now() - m_began;
        return m_limits.stop.stop_requested() || used.count() > m_limits.seconds;
    }

    double cost()
    {
        const double plain = m_completion.evaluate(m_choice);
        const bool tooMuch =
            plain < impossible && m_g.in.hostBudget && m_completion.peak() > *m_g.in.hostBudget * (1 + 1e-9);
        return tooMuch ? impossible : plain;
    }

    // Every value that a deeper one uses; where that is not legal, every value.
    void start()
    {
        for (const int v : m_candidates)
            for (const int c : m_g.consumers[v])
                if (m_g.earliest[c] > m_g.earliest[v]) m_choice.stored[v] = 1;
        m_cost = cost();
        if (m_cost < impossible) return;
        for (const int v : m_candidates) m_choice.stored[v] = 1;
        m_cost = cost();
    }

    // Keeps a change that makes the plan cheaper; whether it did.
    bool keeps()
    {
        const double now = cost();
        if (now == impossible || (m_cost < impossible && now >= m_cost - 1e-9 * std::max(1.0, m_cost))) return false;
        m_cost = now;
        return true;
    }

    bool toggle(int v)
    {
        m_choice.stored[v] ^= 1;
        if (keeps()) return true;
        m_choice.stored[v] ^= 1;
        return false;
    }

    // The nearest values above and below v, at most `farthest` steps away.
    void findNear(int v)
    {
        constexpr int farthest = 10;
        constexpr std::size_t most = 48;
        ++m_stamp;
        m_near.assign(1, v);
        m_seen[v] = m_stamp;
        std::size_t begin = 0;
        for (int step = 0; step < farthest; ++step) {
            const std::size_t end = m_near.size();
            for (; begin < end; ++begin)
                for (const auto* const list : {&m_g.consumers[m_near[begin]], &m_g.operands[m_near[begin]]})
                    for (const int c : *list)
                        if (m_seen[c] != m_stamp && m_near.size() < most) {
                            m_seen[c] = m_stamp;
                            m_near.push_back(c);
                        }
        }
    }

    [[nodiscard]] bool isCandidate(int v) const { return m_g.mayStore[v] && !m_g.mustWrite(v); }

    // Stores a near value instead of v.
    bool move(int v)
    {
        if (!m_choice.stored[v]) return false;
        findNear(v);
        const std::vector<int> near = m_near;
        for (const int c : near) {
            if (m_choice.stored[c] || !isCandidate(c) || over()) continue;
            m_choice.stored[v] = 0;
            m_choice.stored[c] = 1;
            if (keeps()) return true;
            m_choice.stored[v] = 1;
            m_choice.stored[c] = 0;
        }
        return false;
    }

    bool moveStage(int& stage, int from, int to)
    {
        bool better = false;
        int best = stage;
        for (int s = from; s <= to; ++s) {
            if (s == best) continue;
            stage = s;
            if (keeps()) better = true, best = s;
        }
        stage = best;
        return better;
    }

    // Values that depend on inputs alone can be stored in stage 0 or 1; others later than first possible.
    bool moveWrite(int v)
    {
        if (!m_choice.stored[v]) return false;
        const int natural = std::max(m_g.earliest[v], m_g.first);
        return moveStage(m_choice.writeStage[v], natural, std::min(natural + 2, m_g.last));
    }

    bool pass()
    {
        bool better = false;
        for (const int v : m_candidates) {
            if (over()) return false;
            better = toggle(v) || better;
        }
        for (const int v : m_movable) better = (!over() && moveWrite(v)) || better;
        for (const int h : m_hops)
            better = (!over() && moveStage(m_choice.hopStage[h], m_g.earliest[h], m_g.latest[h])) || better;
        if (!m_limits.thorough) return better;
        for (const int v : m_candidates) better = (!over() && move(v)) || better;
        return better;
    }

    void descend()
    {
        while (!over() && pass() && m_limits.thorough) {}
    }

    // Random changes of a few neighbours, then descending again; worse plans are taken back.
    void perturb()
    {
        std::mt19937_64 random(7);
        for (int round = 0; round < 3 && !over() && !m_candidates.empty(); ++round) {
            const Choice before = m_choice;
            const double costBefore = m_cost;
            for (std::size_t k = 0; k < 1 + m_candidates.size() / 50; ++k)
                m_choice.stored[m_candidates[random() % m_candidates.size()]] ^= 1;
            m_cost = cost();
            descend();
            if (m_cost < costBefore) continue;
            m_choice = before;
            m_cost = costBefore;
        }
    }

    const Graph& m_g;
    SearchLimits m_limits;
    Clock::time_point m_began;
    Completion m_completion;
    Choice m_choice;
    double m_cost = impossible;
    std::vector<int> m_candidates, m_hops, m_movable, m_near, m_seen;
    int m_stamp = 0;
};

}  // namespace

std::optional<Placement> searchLocally(const Graph& g, const SearchLimits& limits) { return Search(g, limits).run(); }

}  // namespace hopscope::optimiser

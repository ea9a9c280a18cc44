#include "brute.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <vector>

namespace hopscope::test {

namespace {

using namespace optimiser;
using Mask = std::uint32_t;

constexpr double none = std::numeric_limits<double>::infinity();

// One way to fill a stage.
struct Filling {
    Mask read = 0;      // stored values that are read
    Mask computed = 0;  // values computed on all their rows: those that can be written
    Mask single = 0;    // hops and values that may be computed only once, computed here
    double cost = 0;
};

// Of two that compute the same once, the first one no dearer.
bool better(const Filling& a, const Filling& b) { return (a.read & ~b.read) == 0 && (b.computed & ~a.computed) == 0; }

class Instances {
public:
    explicit Instances(const Instance& in)
        : m_in(in),
          m_n(static_cast<int>(in.nodes.size())),
          m_t(static_cast<int>(in.types.size()))
    {
        sort();
        for (int v = 0; v < m_n; ++v) {
            const Node& node = in.nodes[v];
            const Mask bit = Mask{1} << v;
            if (node.kind == NodeKind::Hop) m_hops |= bit;
            if (node.kind == NodeKind::Hop || node.noRecompute) m_single |= bit;
            if (node.kind == NodeKind::Input) m_inputs |= bit;
            if (node.noCheckpoint) m_unstorable |= bit;
        }
        for (const NodeId o : in.outputs) m_outputs |= (Mask{1} << o.index) & ~m_inputs;
        m_unstorable &= ~m_outputs;
        m_mustWrite = m_outputs;
        for (const Pin& pin : in.pins) {
            const Mask bit = Mask{1} << pin.node.index;
            if (pin.kind == PinKind::Checkpoint) m_mustWrite |= bit;
            if (pin.kind == PinKind::NoCheckpoint) m_unstorable |= bit;
            if (pin.kind == PinKind::NoRecompute) m_single |= bit;
        }
    }

    std::optional<double> solve()
    {
        if ((m_mustWrite & m_unstorable) != 0) return std::nullopt;
        for (int s = m_in.allowStage0 ? 0 : 1; s <= m_in.stages; ++s) {
            const bool asBefore = s >= 2 && std::ranges::none_of(m_in.pins, isHopStage);
            m_fillings.push_back(asBefore ? m_fillings.back() : fillingsOf(s));
        }
        const Mask free = ((Mask{1} << m_n) - 1) & ~m_inputs & ~m_unstorable & ~m_mustWrite;
        std::vector<std::pair<double, Mask>> sets;
        for (Mask sub = free;; sub = (sub - 1) & free) {
            sets.emplace_back(writeCost(sub | m_mustWrite), sub | m_mustWrite);
            if (sub == 0) break;
        }
        std::ranges::sort(sets);
        for (const auto& [base, set] : sets)
            if (base < m_best) m_in.hostBudget ? withBudget(set, base) : withoutBudget(set, base);
        return m_best < none ? std::optional(m_best) : std::nullopt;
    }

private:
    static bool isHopStage(const Pin& pin) { return pin.kind == PinKind::HopStage; }

    void sort()
    {
        std::vector<std::uint8_t> done(m_in.nodes.size(), 0);
        while (static_cast<int>(m_order.size()) < m_n)
            for (int v = 0; v < m_n; ++v) {
                const Node& node = m_in.nodes[v];
                const auto ready = [&](NodeId u) { return done[u.at()] != 0; };
                if (done[v] || !std::ranges::all_of(node.src, ready) || !std::ranges::all_of(node.loc, ready)) continue;
                done[v] = 1;
                m_order.push_back(v);
            }
    }

    [[nodiscard]] double writeCost(Mask set) const
    {
        double cost = 0;
        for (int v = 0; v < m_n; ++v)
            if (set >> v & 1) cost += m_in.nodes[v].write;
        return cost;
    }

    [[nodiscard]] bool cut(NodeId u, int v) const
    {
        const auto pinned = [&](const Pin& p) {
            return p.kind == PinKind::Cut && p.node == u && p.consumer.index == v;
        };
        const auto required = [&](const Edge& e) { return e.from == u && e.to.index == v; };
        return std::ranges::any_of(m_in.pins, pinned) || std::ranges::any_of(m_in.requiredReads, required);
    }

    // ---- one stage: from the last node to the first, every way to provide what is wanted of it
    struct Want {  // by node: bit 0 D, bit 1 + t F@t; of them those that have to be read
        std::vector<Mask> any, read;
    };

    std::vector<Filling> fillingsOf(int stage)
    {
        m_stage = stage;
        m_found.clear();
        Want want{std::vector<Mask>(m_in.nodes.size(), 0), std::vector<Mask>(m_in.nodes.size(), 0)};
        enumerate(m_n - 1, want, Filling());
        std::ranges::sort(m_found, {}, &Filling::cost);
        std::vector<Filling> kept;
        std::map<Mask, std::vector<Filling>> keptBySingle;
        for (const Filling& f : m_found) {
            std::vector<Filling>& alike = keptBySingle[f.single];
            if (std::ranges::any_of(alike, [&](const Filling& k) { return better(k, f); })) continue;
            alike.push_back(f);
            kept.push_back(f);
        }
        return kept;
    }

    void enumerate(int place, const Want& want, const Filling& so)
    {
        if (place < 0) {
            Filling done = so;
            done.cost += sharedCost(so);
            m_found.push_back(done);
            return;
        }
        const int v = m_order[static_cast<std::size_t>(place)];
        if (want.any[v] != 0) provide(place, want, so, want.any[v], want.read[v], false);
        else {
            enumerate(place - 1, want, so);
            if (!(m_inputs >> v & 1))
                provide(place, want, so, 1, 0, true);  // computed for itself: a hop, or to be written
        }
        // Wanted anyway, and on top of it computed on all rows to be written.
        if (want.any[v] != 0 && !(want.any[v] & 1) && !(m_inputs >> v & 1))
            provide(place, want, so, want.any[v] | 1, want.read[v], true);
    }

    [[nodiscard]] double sharedCost(const Filling& f) const
    {
        double cost = m_computedAnything ? m_in.stageCost : 0;
        Mask loaded = 0;
        for (int v = 0; v < m_n; ++v) {
            const RelationId r = m_in.nodes[v].relation;
            if (!(f.single >> v & 1) || !(m_hops >> v & 1) || !r.valid() || (loaded >> r.index & 1)) continue;
            loaded |= Mask{1} << r.index;
            cost += m_in.relations[r.at()].structureCost;
        }
        return cost;
    }

    // Each wanted kind of rows is read or computed; rows of the own frontier stand in for D.
    void provide(int place, const Want& want, const Filling& so, Mask rows, Mask mustRead, bool computeD)
    {
        const int v = m_order[static_cast<std::size_t>(place)];
        const Mask own = Mask{2} << m_in.nodes[v].type.index;
        for (const bool ownToo : {false, true}) {
            if (ownToo && ((rows & own) || !(rows & 1) || m_stage == 0)) continue;
            const Mask all = ownToo ? rows | own : rows;
            for (Mask reads = all;; reads = (reads - 1) & all) {
                choose(place, want, so, rows, mustRead, computeD, all, reads);
                if (reads == 0) break;
            }
        }
    }

    void choose(int place, const Want& want, Filling so, Mask rows, Mask mustRead, bool computeD, Mask all, Mask reads)
    {
        const int v = m_order[static_cast<std::size_t>(place)];
        const Mask own = Mask{2} << m_in.nodes[v].type.index;
        Mask computes = all & ~reads;
        // D is served by the own frontier where that is there, unless reading is asked for and the frontier is computed.
        Mask needD = rows & 1;
        if (needD && (all & own)) {
            const bool enough = !(mustRead & 1) || (reads & own);
            const bool enoughForWrite = !computeD || (computes & own);
            if (enough && enoughForWrite) needD = 0;
        }
        if (!needD) {
            if (reads & 1) return;  // the same without is looked at, too
            computes &= ~Mask{1};
        }
        if ((mustRead & ~Mask{1} & ~reads) != 0) return;
        if (needD && (mustRead & 1) && !(reads & 1)) return;
        if (needD && computeD && !(computes & 1)) return;
        if (allowed(v, reads, computes)) commit(place, want, so, reads, computes);
    }

    [[nodiscard]] bool allowed(int v, Mask reads, Mask computes) const
    {
        const Node& node = m_in.nodes[v];
        const Mask bit = Mask{1} << v;
        if ((reads | computes) > 1 && (m_stage == 0 || node.rows == RowKind::Edge)) return false;
        if (reads != 0 && (m_unstorable & bit)) return false;
        if (computes == 0) return true;
        if (node.kind == NodeKind::Input) return false;
        if (computes > 1) {
            const auto edges = [&](NodeId u) { return m_in.node(u).rows == RowKind::Edge; };
            if (node.kind == NodeKind::Hop || std::ranges::any_of(node.loc, edges)) return false;
        }
        if ((m_single & bit) && (computes & (computes - 1)) != 0) return false;
        return node.kind != NodeKind::Hop || (m_stage > 0 && pinAllows(v));
    }

    [[nodiscard]] bool pinAllows(int v) const
    {
        return std::ranges::none_of(m_in.pins, [&](const Pin& p) {
            return p.kind == PinKind::HopStage && p.node.index == v && p.stage != m_stage;
        });
    }

    void commit(int place, Want want, Filling f, Mask reads, Mask computes)
    {
        const int v = m_order[static_cast<std::size_t>(place)];
        const Node& node = m_in.nodes[v];
        const Mask bit = Mask{1} << v, own = Mask{2} << node.type.index;
        if (reads != 0 && !(m_inputs & bit)) f.read |= bit;
        if (computes & (own | 1)) f.computed |= bit;
        if (computes != 0 && (m_single & bit)) f.single |= bit;
        if (reads & 1) f.cost += node.readD;
        if (computes & 1) f.cost += node.computeD;
        for (int t = 0; t < m_t; ++t) {
            if (reads >> (1 + t) & 1) f.cost += readCostF(node, TypeId(t));
            if (computes >> (1 + t) & 1) f.cost += computeCostF(node, TypeId(t));
        }
        for (const NodeId u : node.loc) {
            want.any[u.at()] |= computes;
            if (cut(u, v)) want.read[u.at()] |= computes;
        }
        if (computes & 1)
            for (const NodeId u : node.src) {
                want.any[u.at()] |= own;
                if (cut(u, v)) want.read[u.at()] |= own;
            }
        const bool before = m_computedAnything;
        m_computedAnything = before || computes != 0;
        enumerate(place - 1, want, f);
        m_computedAnything = before;
    }

    // ---- all stages
    using States = std::map<std::vector<Mask>, double>;

    static void lower(States& states, const std::vector<Mask>& state, double cost)
    {
        const auto [place, isNew] = states.emplace(state, cost);
        if (!isNew) place->second = std::min(place->second, cost);
    }

    // Without a budget it never hurts to write as soon as possible.
    void withoutBudget(Mask set, double base)
    {
        States states{{{0, 0}, base}};
        for (const std::vector<Filling>& fillings : m_fillings) {
            States next;
            for (const auto& [state, cost] : states)
                for (const Filling& f : fillings) {
                    if (cost + f.cost >= m_best) break;
                    if ((f.read & ~state[0]) == 0 && (f.single & state[1]) == 0)
                        lower(next, {state[0] | (f.computed & set), state[1] | f.single}, cost + f.cost);
                }
            states = std::move(next);
        }
        for (const auto& [state, cost] : states)
            if (state[0] == set && (state[1] & m_hops) == m_hops) m_best = std::min(m_best, cost);
    }

    [[nodiscard]] double sizeOf(Mask set) const
    {
        double size = 0;
        for (int v = 0; v < m_n; ++v)
            if (set >> v & 1) size += m_in.nodes[v].size;
        return size;
    }

    // State: what is on the host, what has been written, what has been computed of `single`.
    void withBudget(Mask set, double base)
    {
        States states{{{0, 0, 0}, base}};
        for (const std::vector<Filling>& fillings : m_fillings) {
            States next;
            for (const auto& [state, cost] : states)
                for (const Filling& f : fillings) {
                    if (cost + f.cost >= m_best) break;
                    if ((f.read & ~state[0]) == 0 && (f.single & state[2]) == 0)
                        stageWithBudget(next, state, f, set, cost);
                }
            states = std::move(next);
        }
        for (const auto& [state, cost] : states)
            if (state[1] == set && (state[2] & m_hops) == m_hops) m_best = std::min(m_best, cost);
    }

    void stageWithBudget(States& next, const std::vector<Mask>& state, const Filling& f, Mask set, double cost) const
    {
        const Mask fixed = (state[0] & m_outputs) | f.read, loose = state[0] & ~fixed;
        const Mask writable = f.computed & set & ~state[1];
        for (Mask keep = loose;; keep = (keep - 1) & loose) {
            for (Mask write = writable;; write = (write - 1) & writable) {
                if (sizeOf(fixed | keep | write) <= *m_in.hostBudget + 1e-9)
                    lower(next, {fixed | keep | write, state[1] | write, state[2] | f.single}, cost + f.cost);
                if (write == 0) break;
            }
            if (keep == 0) break;
        }
    }

    const Instance& m_in;
    int m_n, m_t;
    std::vector<int> m_order;
    Mask m_hops = 0, m_single = 0, m_inputs = 0, m_outputs = 0, m_mustWrite = 0, m_unstorable = 0;
    std::vector<std::vector<Filling>> m_fillings;
    std::vector<Filling> m_found;
    int m_stage = 0;
    bool m_computedAnything = false;
    double m_best = none;
};

}  // namespace

std::optional<double> bruteForce(const Instance& instance) { return Instances(instance).solve(); }

}  // namespace hopscope::test

#include "optimiser/excerpt.h"

#include <algorithm>
#include <map>
#include <set>

#include "optimiser/bounds.h"
#include "optimiser/evaluate.h"

namespace hopscope::optimiser {

namespace {

constexpr int never = -1;

// The stages in which a placement computes, writes and reads each node, relative to the window.
struct History {
    History(const Instance& instance, const Bounds& demanded, const Placement& placement, StageRange within)
        : window(within),
          bounds(demanded),
          written(writeStages(instance, placement)),
          lastRead(lastReads(instance, placement)),
          hop(instance.nodes.size(), never),
          computedHere(instance.nodes.size(), 0),
          computedElsewhere(computedHere),
          readHere(computedHere)
    {
        for (const StagePlacement& s : placement.stages) add(s);
    }

    [[nodiscard]] bool inside(int stage) const { return stage >= window.from && stage <= window.to; }
    [[nodiscard]] bool writtenHere(NodeId v) const { return written[v.at()] != never && inside(written[v.at()]); }
    [[nodiscard]] bool writtenBefore(NodeId v) const
    {
        return written[v.at()] != never && written[v.at()] < window.from;
    }
    // Later stages have to recompute the values that must no longer be stored.
    [[nodiscard]] bool neededLater(NodeId v) const
    {
        const bool readLater = lastRead[v.at()] > window.to && !bounds.forbidden[v.at()];
        return writtenHere(v) && (bounds.output[v.at()] || readLater);
    }

    StageRange window;
    const Bounds& bounds;
    std::vector<int> written, lastRead, hop;
    std::vector<std::uint8_t> computedHere, computedElsewhere, readHere;

private:
    void add(const StagePlacement& s)
    {
        std::vector<std::uint8_t>& computed = inside(s.stage) ? computedHere : computedElsewhere;
        for (const NodeId v : s.hops) hop[v.at()] = s.stage, computed[v.at()] = 1;
        for (const NodeId v : s.computeD) computed[v.at()] = 1;
        for (const OnFrontier& c : s.computeF) computed[c.node.at()] = 1;
        if (!inside(s.stage)) return;
        for (const NodeId v : s.readD) readHere[v.at()] = 1;
        for (const OnFrontier& c : s.readF) readHere[c.node.at()] = 1;
    }
};

class Cutter {
public:
    Cutter(const Instance& instance, const Placement& incumbent, StageRange window)
        : m_in(instance),
          m_bounds(instance),
          m_incumbent(incumbent),
          m_history(instance, m_bounds, incumbent, window),
          m_place(instance.nodes.size(), never)
    {}

    std::optional<Excerpt> run()
    {
        if (!pinsFit()) return std::nullopt;
        roots();
        if (!close()) return std::nullopt;
        std::ranges::sort(m_nodes);
        m_out.window = m_history.window;
        m_out.shift = std::max(m_history.window.from, 1) - 1;
        problem();
        m_out.incumbent = incumbent();
        return std::move(m_out);
    }

private:
    static constexpr int wanted = 0;  // a place, until places are known

    // The window has to contain the hops that a pin moves, and the stages that they move to.
    [[nodiscard]] bool pinsFit() const
    {
        for (std::size_t v = 0; v < m_in.nodes.size(); ++v) {
            const int stage = m_history.hop[v], demanded = m_bounds.stagePin[v];
            if (demanded == never || demanded == stage) continue;
            if (stage == never || !m_history.inside(stage) || !m_history.inside(demanded)) return false;
        }
        return true;
    }

    void want(NodeId v)
    {
        if (m_place[v.at()] != never) return;
        m_place[v.at()] = wanted;
        m_nodes.push_back(v);
    }

    void roots()
    {
        for (const StagePlacement& s : m_incumbent.stages) {
            if (!m_history.inside(s.stage)) continue;
            for (const NodeId v : s.hops) want(v);
            for (const NodeId v : s.written)
                if (m_history.neededLater(v)) want(v);
        }
        for (std::size_t v = 0; v < m_in.nodes.size(); ++v)
            if (m_bounds.pinned[v] && mayWrite(NodeId(v))) want(NodeId(v));
    }

    [[nodiscard]] bool mayWrite(NodeId v) const
    {
        return m_history.written[v.at()] == never || m_history.writtenHere(v);
    }

    // Whether the value is on the host when the window begins. Values that the window recomputes instead do not count.
    [[nodiscard]] bool given(NodeId v) const
    {
        const bool again = m_history.computedHere[v.at()] && !m_history.readHere[v.at()];
        return m_in.node(v).kind == NodeKind::Input || (m_history.writtenBefore(v) && !again);
    }

    // Collects the values that the roots need; false if one of them is made elsewhere and not stored.
    bool close()
    {
        std::size_t next = 0;
        while (next < m_nodes.size())  // which grow
            if (!supply(m_nodes[next++])) return false;
        return true;
    }

    bool supply(NodeId v)
    {
        if (given(v)) return true;
        const Node& node = m_in.node(v);
        const int hop = m_history.hop[v.at()];
        if (node.kind == NodeKind::Hop && (hop == never || !m_history.inside(hop))) return false;
        if (m_bounds.once[v.at()] && m_history.computedElsewhere[v.at()]) return false;
        for (const NodeId u : node.src) want(u);
        for (const NodeId u : node.loc) want(u);
        return true;
    }

    [[nodiscard]] bool has(NodeId v) const { return m_place[v.at()] != never; }
    [[nodiscard]] NodeId placeOf(NodeId v) const { return NodeId(m_place[v.at()]); }

    void problem()
    {
        Instance& out = m_out.instance;
        out.types = m_in.types;
        out.relations = m_in.relations;
        out.stages = m_history.window.to - m_out.shift;
        out.allowStage0 = m_history.window.from == 0;
        out.stageCost = m_in.stageCost;
        m_out.original = m_nodes;
        for (std::size_t i = 0; i < m_nodes.size(); ++i) m_place[m_nodes[i].at()] = static_cast<int>(i);
        for (const NodeId v : m_nodes) out.nodes.push_back(part(v));
        for (const NodeId v : m_nodes)
            if (m_history.neededLater(v)) out.outputs.push_back(placeOf(v));
        for (const Edge& e : m_in.requiredReads)
            if (has(e.from) && has(e.to)) out.requiredReads.push_back({placeOf(e.from), placeOf(e.to)});
        for (const Pin& pin : m_in.pins) addPin(pin);
    }

    [[nodiscard]] Node part(NodeId v) const
    {
        Node node = m_in.node(v);
        if (given(v)) {
            node.kind = NodeKind::Input;
            node.src.clear(), node.loc.clear();
            node.relation = RelationId();
        }
        node.noCheckpoint = node.noCheckpoint || !mayWrite(v);
        for (NodeId& u : node.src) u = placeOf(u);
        for (NodeId& u : node.loc) u = placeOf(u);
        return node;
    }

    // Drops the pins of values that are given, and those of stores outside of the window.
    void addPin(const Pin& pin)
    {
        const bool cut = pin.consumer.valid();
        if (!has(pin.node) || (cut ? !has(pin.consumer) : given(pin.node))) return;
        if (base::isStoring(pin.kind) && m_bounds.pinned[pin.node.at()] && !mayWrite(pin.node)) return;
        m_out.instance.pins.push_back({.kind = pin.kind,
                                       .node = placeOf(pin.node),
                                       .consumer = cut ? placeOf(pin.consumer) : NodeId(),
                                       .stage = pin.stage > 0 ? pin.stage - m_out.shift : 0});
    }

    [[nodiscard]] Placement incumbent() const
    {
        Placement here;
        for (const StagePlacement& s : m_incumbent.stages)
            if (m_history.inside(s.stage)) here.stages.push_back(part(s));
        return here;
    }

    [[nodiscard]] std::vector<NodeId> part(const std::vector<NodeId>& list) const
    {
        std::vector<NodeId> here;
        for (const NodeId v : list)
            if (has(v)) here.push_back(placeOf(v));
        return here;
    }

    [[nodiscard]] std::vector<OnFrontier> part(const std::vector<OnFrontier>& list) const
    {
        std::vector<OnFrontier> here;
        for (const OnFrontier& c : list)
            if (has(c.node)) here.push_back({placeOf(c.node), c.type});
        return here;
    }

    [[nodiscard]] StagePlacement part(const StagePlacement& s) const
    {
        return {.stage = s.stage - m_out.shift,
                .hops = part(s.hops),
                .computeD = part(s.computeD),
                .computeF = part(s.computeF),
                .readD = part(s.readD),
                .readF = part(s.readF),
                .written = part(s.written)};
    }

    const Instance& m_in;
    Bounds m_bounds;
    const Placement& m_incumbent;
    History m_history;
    std::vector<int> m_place;
    std::vector<NodeId> m_nodes;
    Excerpt m_out;
};

StagePlacement whole(StagePlacement s, const Excerpt& excerpt)
{
    s.stage += excerpt.shift;
    for (auto* const list : {&s.hops, &s.computeD, &s.readD, &s.written})
        for (NodeId& v : *list) v = excerpt.original[v.at()];
    for (auto* const list : {&s.computeF, &s.readF})
        for (OnFrontier& c : *list) c.node = excerpt.original[c.node.at()];
    return s;
}

// Removes all of a stage that its hops and stores do not need.
class Pruner {
public:
    Pruner(const Instance& instance, const StagePlacement& stage)
        : m_in(instance),
          m_stage(stage),
          m_readD(stage.readD.begin(), stage.readD.end()),
          m_onF(stage.computeF.begin(), stage.computeF.end()),
          m_readF(stage.readF.begin(), stage.readF.end())
    {}

    StagePlacement run()
    {
        for (const NodeId v : m_stage.hops) needD(v);
        for (const NodeId v : m_stage.written) needD(v);
        while (!m_open.empty()) {
            const OnFrontier cell = m_open.back();
            m_open.pop_back();
            if (cell.type.valid()) operandsF(cell);
            else operandsD(cell.node);
        }
        StagePlacement left = m_stage;
        for (auto* const list : {&left.computeD, &left.readD})
            std::erase_if(*list, [this](NodeId v) { return !m_needed.contains({v, TypeId()}); });
        for (auto* const list : {&left.computeF, &left.readF})
            std::erase_if(*list, [this](const OnFrontier& c) { return !m_needed.contains(c); });
        return left;
    }

private:
    void need(const OnFrontier& cell)
    {
        if (m_needed.insert(cell).second) m_open.push_back(cell);
    }

    // Rows on the own frontier include those on D.
    void needD(NodeId v)
    {
        const OnFrontier own{v, m_in.node(v).type};
        const bool onF = m_onF.contains(own) || m_readF.contains(own);
        need(onF && !m_readD.contains(v) ? own : OnFrontier{v, TypeId()});
    }

    void operandsD(NodeId v)
    {
        if (m_readD.contains(v)) return;
        for (const NodeId u : m_in.node(v).src) need({u, m_in.node(v).type});
        for (const NodeId u : m_in.node(v).loc) needD(u);
    }

    void operandsF(const OnFrontier& cell)
    {
        if (m_readF.contains(cell)) return;
        for (const NodeId u : m_in.node(cell.node).loc) need({u, cell.type});
    }

    const Instance& m_in;
    const StagePlacement& m_stage;
    std::set<NodeId> m_readD;
    std::set<OnFrontier> m_onF, m_readF, m_needed;  // D: no type
    std::vector<OnFrontier> m_open;
};

// Goes from the last stage to the first, so that reads that only served a dropped store are dropped as well.
void dropUnread(const Instance& instance, std::vector<StagePlacement>& stages, int before)
{
    const Bounds bounds(instance);
    std::vector<std::uint8_t> used(instance.nodes.size());
    for (std::size_t v = 0; v < used.size(); ++v) used[v] = bounds.mustWrite(static_cast<int>(v));
    for (std::size_t i = stages.size(); i-- > 0;) {
        StagePlacement& s = stages[i];
        const auto unread = [&used](NodeId v) { return !used[v.at()]; };
        if (s.stage < before && std::erase_if(s.written, unread) > 0) s = Pruner(instance, s).run();
        for (const NodeId v : s.readD) used[v.at()] = 1;
        for (const OnFrontier& c : s.readF) used[c.node.at()] = 1;
    }
    std::erase_if(stages,
                  [](const StagePlacement& s) { return s.hops.empty() && s.computeD.empty() && s.computeF.empty(); });
}

// Recomputes the values that a stage reads and that are no longer stored, from those that are.
class Supplier {
public:
    // `written`: by an earlier stage, by node.
    Supplier(const Instance& instance, StagePlacement& stage, const std::vector<std::uint8_t>& written)
        : m_in(instance),
          m_stage(stage),
          m_written(written)
    {
        for (const auto* const list : {&stage.hops, &stage.computeD, &stage.readD})
            for (const NodeId v : *list) m_there.insert({v, TypeId()});
        for (const auto* const list : {&stage.computeF, &stage.readF}) m_there.insert(list->begin(), list->end());
    }

    void run()
    {
        std::vector<OnFrontier> missing;
        const auto take = [&](const OnFrontier& c) {
            const bool lost = !isStored(c.node);
            if (lost) missing.push_back(c), m_there.erase(c);
            return lost;
        };
        std::erase_if(m_stage.readD, [&](NodeId v) { return take({v, TypeId()}); });
        std::erase_if(m_stage.readF, take);
        for (const OnFrontier& c : missing) provide(c);
        if (!missing.empty()) sort();
    }

private:
    [[nodiscard]] bool isStored(NodeId v) const { return m_in.node(v).kind == NodeKind::Input || m_written[v.at()]; }

    [[nodiscard]] bool isThere(const OnFrontier& c) const
    {
        return m_there.contains(c) || (!c.type.valid() && m_there.contains({c.node, m_in.node(c.node).type}));
    }

    // Makes the value available. The placement remains illegal where that takes a hop.
    void provide(const OnFrontier& wanted)
    {
        std::vector<OnFrontier> open{wanted};
        while (!open.empty()) {
            const OnFrontier c = open.back();
            open.pop_back();
            if (isThere(c)) continue;
            m_there.insert(c);
            const bool read = isStored(c.node);
            if (c.type.valid()) (read ? m_stage.readF : m_stage.computeF).push_back(c);
            else (read ? m_stage.readD : m_stage.computeD).push_back(c.node);
            if (!read)
                for (const NodeId u : m_in.node(c.node).loc) open.push_back({u, c.type});
        }
    }

    // Sorts operands before their consumers.
    void sort()
    {
        std::set<NodeId> here;
        for (const OnFrontier& c : m_there) here.insert(c.node);
        for (const NodeId v : here) place(v, here);
        const auto before = [this](NodeId u, NodeId v) { return m_place.at(u) < m_place.at(v); };
        for (auto* const list : {&m_stage.computeD, &m_stage.readD}) std::ranges::sort(*list, before);
        for (auto* const list : {&m_stage.computeF, &m_stage.readF})
            std::ranges::sort(*list, [&](const OnFrontier& a, const OnFrontier& b) {
                return a.node == b.node ? a.type < b.type : before(a.node, b.node);
            });
    }

    void place(NodeId root, const std::set<NodeId>& here)
    {
        std::vector<std::pair<NodeId, bool>> open{{root, false}};
        while (!open.empty()) {
            const auto [v, ready] = open.back();
            open.pop_back();
            if (m_place.contains(v)) continue;
            if (ready) {
                m_place.emplace(v, m_place.size());
                continue;
            }
            open.emplace_back(v, true);
            for (const auto& list : {m_in.node(v).src, m_in.node(v).loc})
                for (const NodeId u : list)
                    if (here.contains(u)) open.emplace_back(u, false);
        }
    }

    const Instance& m_in;
    StagePlacement& m_stage;
    const std::vector<std::uint8_t>& m_written;
    std::set<OnFrontier> m_there;  // D: no type
    std::map<NodeId, std::size_t> m_place;
};

// Lets stages after `window` recompute values that are no longer written there.
void supply(const Instance& instance, std::vector<StagePlacement>& stages, StageRange window)
{
    std::vector<std::uint8_t> written(instance.nodes.size(), 0);
    for (StagePlacement& s : stages) {
        if (s.stage > window.to) Supplier(instance, s, written).run();
        for (const NodeId v : s.written) written[v.at()] = 1;
    }
}

}  // namespace

void StageRange::include(int stage) { from = std::min(from, stage), to = std::max(to, stage); }

std::optional<Excerpt> excerptOf(const Instance& instance, const Placement& incumbent, StageRange window)
{
    return Cutter(instance, incumbent, window).run();
}

Placement withExcerpt(const Instance& instance, const Placement& incumbent, const Excerpt& excerpt,
                      const Placement& part)
{
    Placement all;
    const auto copy = [&](auto&& chosen) {
        std::ranges::copy_if(incumbent.stages, std::back_inserter(all.stages), chosen);
    };
    copy([&](const StagePlacement& s) { return s.stage < excerpt.window.from; });
    for (const StagePlacement& s : part.stages) all.stages.push_back(whole(s, excerpt));
    copy([&](const StagePlacement& s) { return s.stage > excerpt.window.to; });
    supply(instance, all.stages, excerpt.window);
    dropUnread(instance, all.stages, excerpt.window.from);
    all.hostPeak = hostPeak(instance, all);
    return all;
}

}  // namespace hopscope::optimiser

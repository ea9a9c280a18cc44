#include "kernels/strip_kept.h"

#include <algorithm>
#include <bit>
#include <set>

namespace hopscope::kernels {

namespace {

constexpr std::int64_t kNarrowest = 16;  // rows up to this width may be kept
constexpr std::int64_t kWider = 4;       // rows of tables must be so many times as wide as kept ones
constexpr int kNone = -1;

using From = StripOperand::From;

class Keeper {
public:
    explicit Keeper(const StripProgram& program) : m_program(program), m_holds(program.edges.size(), kNone)
    {
        m_result.kept.resize(program.edges.size());
        for (const StripStep& s : program.steps) {
            m_result.phases.push_back(onEdges(s) ? 0 : s.phases);
            m_all |= s.phases;
        }
    }

    KeptRows result()
    {
        for (std::uint32_t phase = 1; phase != 0 && phase <= m_all; phase <<= 1) take(phase);
        return m_result;
    }

private:
    using Steps = std::set<int>;

    static bool onEdges(const StripStep& s) { return !s.perDestination && s.op != StripOp::Aggregate; }
    [[nodiscard]] const StripStep& step(int s) const { return m_program.steps[static_cast<std::size_t>(s)]; }

    // The last step before `reader` that writes this buffer of edges.
    [[nodiscard]] int writer(int buffer, int reader) const
    {
        for (int s = reader - 1; s >= 0; --s)
            if (onEdges(step(s)) && step(s).to == buffer) return s;
        return kNone;
    }

    [[nodiscard]] bool mayKeep(int buffer) const
    {
        std::int64_t widest = 0;
        for (std::size_t t = 0; t < m_program.tables.size(); ++t)
            if (m_program.tables[t] == StripRows::Gathered || m_program.tables[t] == StripRows::Edges)
                widest = std::max(widest, m_program.tableWidths[t]);
        const std::int64_t width = m_program.edges[static_cast<std::size_t>(buffer)];
        return width <= kNarrowest && kWider * width <= widest;
    }

    // The results that the aggregations of a phase depend on.
    struct Need {
        Steps computed;
        std::vector<std::pair<int, int>> read;  // kept results, and their readers
    };

    [[nodiscard]] Need needOf(std::uint32_t phase, const Steps& lost) const
    {
        Need need;
        for (int s = static_cast<int>(m_program.steps.size()) - 1; s >= 0; --s) {
            const bool aggregates = step(s).op == StripOp::Aggregate && (step(s).phases & phase) != 0;
            if (!aggregates && !need.computed.contains(s)) continue;
            for (const StripOperand* const o : {&step(s).a, &step(s).b}) {
                if (o->from != From::Edge) continue;
                const int w = writer(o->at, s);
                const bool held = w != kNone && m_holds[static_cast<std::size_t>(o->at)] == w && !lost.contains(w);
                if (held) need.read.emplace_back(w, s);
                else if (w != kNone) need.computed.insert(w);
            }
        }
        return need;
    }

    // A result that another step of the phase overwrites before it is read; kNone: there is none.
    [[nodiscard]] int overwritten(const Need& need) const
    {
        for (const auto& [kept, reader] : need.read)
            for (const int s : need.computed)
                if (s < reader && step(s).to == step(kept).to) return kept;
        return kNone;
    }

    void take(std::uint32_t phase)
    {
        Steps lost;
        Need need = needOf(phase, lost);
        for (int w = overwritten(need); w != kNone; w = overwritten(need)) {
            lost.insert(w);
            need = needOf(phase, lost);
        }
        for (const auto& [kept, reader] : need.read) m_result.kept[static_cast<std::size_t>(step(kept).to)] = true;
        for (const int s : need.computed) {
            m_result.phases[static_cast<std::size_t>(s)] |= phase;
            if (mayKeep(step(s).to)) m_holds[static_cast<std::size_t>(step(s).to)] = s;
        }
    }

    const StripProgram& m_program;
    std::vector<int> m_holds;  // by buffer of edges: the step whose rows it holds for all edges
    std::uint32_t m_all = 0;
    KeptRows m_result;
};

}  // namespace

KeptRows keptRows(const StripProgram& program) { return Keeper(program).result(); }

}  // namespace hopscope::kernels

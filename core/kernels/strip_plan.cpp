#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "kernels/strip_layout.h"

namespace hopscope::kernels {

namespace {

constexpr std::int64_t kRoom = 512 << 10;  // bytes of the rows of edges: half of a core's second cache
constexpr std::int64_t kHot = 40 << 10;    // bytes of a strip of several destinations
constexpr std::int64_t kLeastRows = 64;
constexpr std::int64_t kLine = 64;
constexpr int kMostPhases = 32;

using From = StripOperand::From;

// The first phase in which each buffer of destinations is complete, and 1 + the phase for its readers on edges.
class Phases {
public:
    explicit Phases(StripProgram& program)
        : m_program(program),
          m_edges(program.edges.size(), 0),
          m_destinations(program.destinations.size(), 0)
    {}

    bool set()
    {
        for (StripStep& s : m_program.steps) first(s);
        for (auto s = m_program.steps.rbegin(); s != m_program.steps.rend(); ++s) spread(*s);
        return m_most < kMostPhases;
    }

private:
    [[nodiscard]] int of(const StripOperand& o, bool perDestination) const
    {
        if (o.from == From::Edge) return m_edges[static_cast<std::size_t>(o.at)];
        if (o.from != From::Destination) return 0;
        return m_destinations[static_cast<std::size_t>(o.at)] + (perDestination ? 0 : 1);
    }

    void first(StripStep& s)
    {
        const int phase = std::max(of(s.a, s.perDestination), of(s.b, s.perDestination));
        m_most = std::max(m_most, phase);
        const bool lasting = s.perDestination || s.op == StripOp::Aggregate;
        (lasting ? m_destinations : m_edges)[static_cast<std::size_t>(s.to)] = phase;
        s.phases = lasting && phase < kMostPhases ? 1u << phase : 0;
    }

    // Sets the phases in which a step on edges is needed. Buffers are reused, so the latest writer before the reader
    // counts.
    void spread(StripStep& s)
    {
        if (s.perDestination) return;
        if (s.op != StripOp::Aggregate) s.phases = std::exchange(m_needed[s.to], 0);
        for (const StripOperand* o : {&s.a, &s.b})
            if (o->from == From::Edge) m_needed[o->at] |= s.phases;
    }

    StripProgram& m_program;
    std::vector<int> m_edges, m_destinations;
    std::map<int, std::uint32_t> m_needed;  // by buffer of edges
    int m_most = 0;
};

// The width of the widest rows that are copied before they are computed on.
std::int64_t widestCopied(const StripProgram& p)
{
    std::int64_t widest = 0;
    for (const std::vector<std::int64_t>* const widths : {&p.tableWidths, &p.destinations})
        for (const std::int64_t width : *widths)
            if (width <= kNarrow) widest = std::max(widest, width);
    return widest;
}

}  // namespace

std::int64_t itemBytes(StripElement element)
{
    switch (element) {
    case StripElement::Float64: return 8;
    case StripElement::Float32: return 4;
    default: return 2;
    }
}

bool setPhases(StripProgram& program) { return Phases(program).set(); }

StripLayout layoutOf(const StripProgram& p)
{
    StripLayout layout;
    const std::int64_t item = itemBytes(p.element);
    const std::int64_t row = std::max(std::accumulate(p.edges.begin(), p.edges.end(), std::int64_t{0}), kNarrow) * item;
    layout.capacity = kPiece;
    while (layout.capacity > kLeastRows && layout.capacity * row > kRoom) layout.capacity /= 2;
    layout.packed = std::min(std::max(kHot / row, kLeastRows), layout.capacity);
    const auto take = [&](std::int64_t bytes) {
        const std::int64_t at = layout.bytes;
        layout.bytes += (bytes + kLine - 1) / kLine * kLine;
        return at;
    };
    for (const std::int64_t width : p.edges) layout.edges.push_back(take(layout.capacity * width * item));
    for (const std::int64_t width : p.destinations)
        layout.destinations.push_back(take(kStripDestinations * width * item));
    for (const StripStep& s : p.steps)
        layout.sums.push_back(s.op == StripOp::Aggregate ? take(2 * s.width * std::max<std::int64_t>(item, 4)) : 0);
    const std::int64_t copied = widestCopied(p);
    for (int operand : {0, 1}) {
        layout.pointers[operand] = take(layout.capacity * static_cast<std::int64_t>(sizeof(void*)));
        layout.copies[operand] = take(layout.capacity * copied * item + kLine);  // a vector may follow
    }
    layout.next = take(layout.capacity * static_cast<std::int64_t>(sizeof(void*)));
    return layout;
}

std::int64_t stripScratchBytes(const StripProgram& program) { return layoutOf(program).bytes; }

}  // namespace hopscope::kernels

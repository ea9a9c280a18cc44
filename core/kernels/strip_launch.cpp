#include "kernels/strip_launch.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/strip_kept.h"
#include "kernels/strip_layout.h"

namespace hopscope::kernels {

namespace {

constexpr std::int64_t kUsualShared = 16 << 10;  // bytes of a block, so that a multiprocessor holds many
constexpr std::int64_t kMostShared = 48 << 10;   // that every GPU grants
constexpr int kEnoughRows = 4, kMostRows = 64;
constexpr std::int64_t kAlign = 16;

std::int64_t total(const std::vector<std::int64_t>& widths)
{
    return std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
}

std::int32_t take(std::int32_t& bytes, std::int64_t wanted)
{
    const std::int32_t at = bytes;
    bytes += static_cast<std::int32_t>((wanted + kAlign - 1) / kAlign * kAlign);
    return at;
}

class Builder {
public:
    Builder(const StripProgram& program, int shape) : m_program(program)
    {
        m_launch.element = program.element;
        m_launch.shape = shape;
        m_launch.stepCount = static_cast<int>(program.steps.size());
        for (std::size_t s = 0; s < program.steps.size(); ++s) m_launch.steps[s] = step(program.steps[s]);
        for (std::size_t b = 0; b < program.destinations.size(); ++b)
            m_launch.destinations[b] = {static_cast<std::int32_t>(program.destinations[b]),
                                        take(m_launch.rowBytes, program.destinations[b] * item()), nullptr};
        shareOut();
        for (std::size_t b = 0; b < program.edges.size(); ++b)
            m_launch.edges[b] = {static_cast<std::int32_t>(program.edges[b]),
                                 take(m_launch.edgeBytes, m_launch.rows * widthOf(b) * item()), nullptr};
        m_launch.groupBytes = std::int64_t{m_launch.edgeBytes} + m_launch.sumBytes + m_launch.rowBytes;
    }

    [[nodiscard]] const StripLaunch& launch() const { return m_launch; }

private:
    [[nodiscard]] std::int64_t item() const { return itemBytes(m_program.element); }

    // Of a buffer of edges in memory.
    [[nodiscard]] std::int64_t widthOf(std::size_t buffer) const
    {
        if (m_launch.shape == kNoShape) return m_program.edges[buffer];
        const Shape& shape = kShapes[m_launch.shape];
        for (int s = 0; s < shape.count; ++s)
            if (onEdges(shape.steps[s]) && shape.steps[s].to == buffer && !isInlined(shape, s))
                return m_program.edges[buffer];
        return 0;
    }

    LaunchStep step(const StripStep& s)
    {
        LaunchStep made;
        made.op = s.op;
        made.combine = s.combine;
        made.perDestination = s.perDestination;
        made.to = static_cast<std::uint8_t>(s.to);
        made.width = static_cast<std::int32_t>(s.width);
        made.phases = s.phases;
        made.parameter = s.parameter;
        made.empty = s.empty;
        made.a = operand(s.a);
        made.b = operand(s.b);
        if (s.op == StripOp::Aggregate)
            made.sums = take(m_launch.sumBytes, s.width * std::max<std::int64_t>(item(), 4));
        m_launch.phases |= s.phases;
        return made;
    }

    [[nodiscard]] LaunchOperand operand(const StripOperand& o) const
    {
        const auto at = static_cast<std::size_t>(o.at);
        std::int64_t width = 1;
        if (o.from == StripOperand::From::Edge) width = m_program.edges[at];
        if (o.from == StripOperand::From::Destination) width = m_program.destinations[at];
        if (o.from == StripOperand::From::Table) width = m_program.tableWidths[at];
        return {o.from, static_cast<std::uint8_t>(o.at), static_cast<std::int32_t>(width),
                static_cast<std::int32_t>(o.inner)};
    }

    // As many groups in a block, and rows in a strip, as shared memory has room for.
    void shareOut()
    {
        std::int64_t widest = 1, row = 0;
        for (const StripStep& s : m_program.steps) {
            const bool sums = s.op == StripOp::RowSum;  // a row takes several threads
            widest = std::max({widest, s.width, sums ? std::int64_t{operand(s.a).width} : 0});
        }
        for (std::size_t b = 0; b < m_program.edges.size(); ++b) row += widthOf(b) * item();
        const std::int64_t buffers = static_cast<std::int64_t>(m_program.edges.size()) * kAlign;
        const std::int64_t fixed = buffers + m_launch.sumBytes + m_launch.rowBytes;
        m_launch.lanes =
            static_cast<int>(std::clamp<std::uint64_t>(std::bit_ceil(static_cast<std::uint64_t>(widest)), 8, 32));
        const auto rowsIn = [&](std::int64_t bytes) {
            return bytes < fixed ? 0 : (bytes - fixed) / std::max<std::int64_t>(row, 1);
        };
        std::int64_t groups = kLaunchThreads / m_launch.lanes, rows = rowsIn(kUsualShared / groups);
        while (rows < kEnoughRows && groups > 1) rows = rowsIn(kUsualShared / (groups /= 2));
        if (rows < kEnoughRows) rows = std::min<std::int64_t>(rowsIn(kMostShared), kEnoughRows);
        m_launch.shared = rows > 0;
        m_launch.groups = static_cast<int>(groups);
        m_launch.rows = static_cast<int>(std::clamp<std::int64_t>(m_launch.shared ? rows : kEnoughRows, 1, kMostRows));
    }

    const StripProgram& m_program;
    StripLaunch m_launch;
};

std::int64_t hubBytes(const StripLaunch& launch, std::int64_t pieces)
{
    return pieces * (std::int64_t{launch.sumBytes} + launch.rowBytes);
}

// Of all memory except kept rows.
std::int64_t bytesBeforeKept(const StripLaunch& launch, std::int64_t pieces)
{
    return hubBytes(launch, pieces) + (launch.shared ? 0 : kLaunchGroups * launch.groupBytes);
}

// By buffer of edges; 0: nothing is kept.
std::vector<std::int64_t> bytesKept(const StripProgram& p, const KeptRows& rows, std::int64_t edges)
{
    std::vector<std::int64_t> bytes(p.edges.size(), 0);
    for (std::size_t b = 0; b < bytes.size(); ++b)
        if (rows.kept[b]) bytes[b] = (edges * p.edges[b] * itemBytes(p.element) + kAlign - 1) / kAlign * kAlign;
    return bytes;
}

void keep(StripLaunch& launch, const StripProgram& program, const StripArguments& arguments)
{
    if (arguments.edges == 0) return;
    const KeptRows rows = keptRows(program);
    for (int s = 0; s < launch.stepCount; ++s) launch.steps[s].phases = rows.phases[static_cast<std::size_t>(s)];
    std::byte* at = arguments.work + bytesBeforeKept(launch, arguments.pieceCount);
    const std::vector<std::int64_t> bytes = bytesKept(program, rows, arguments.edges);
    for (std::size_t b = 0; b < bytes.size(); ++b) {
        if (bytes[b] > 0) launch.edges[b].out = at;
        at += bytes[b];
    }
}

}  // namespace

bool stripFits(const StripProgram& p)
{
    const auto sums = [](std::int64_t all, const StripStep& s) {
        return s.op == StripOp::Aggregate ? all + s.width : all;
    };
    const bool few = p.steps.size() <= kLaunchSteps && p.tables.size() <= kLaunchTables &&
                     p.edges.size() <= kLaunchBuffers && p.destinations.size() <= kLaunchBuffers;
    const bool narrow = std::ranges::all_of(p.tableWidths, [](std::int64_t width) { return width <= kLaunchWidth; });
    return few && narrow && total(p.edges) + total(p.destinations) <= kLaunchWidth &&
           std::accumulate(p.steps.begin(), p.steps.end(), std::int64_t{0}, sums) <= kLaunchWidth;
}

StripLaunch stripLaunch(const StripProgram& program, const StripArguments& arguments)
{
    return stripLaunch(program, arguments, shapeOf(program, arguments));
}

StripLaunch stripLaunch(const StripProgram& program, const StripArguments& arguments, int shape)
{
    StripLaunch launch = Builder(program, shape).launch();
    launch.offsets = arguments.offsets;
    launch.count = arguments.destinations;
    launch.pieces = arguments.pieces;
    launch.pieceCount = arguments.pieceCount;
    launch.pieceFirst = arguments.pieceFirst;
    launch.hubBytes = hubBytes(launch, arguments.pieceCount);
    launch.work = arguments.work;
    std::size_t hosts = 0;
    for (std::size_t t = 0; t < arguments.tables.size(); ++t) {
        const StripTable& from = arguments.tables[t];
        launch.tables[t] = {from.data,         from.stride,       from.first,
                            from.columns.data, from.columns.wide, program.tables[t]};
        if (from.host.places == nullptr) continue;
        launch.tables[t].host = static_cast<std::int8_t>(hosts);
        launch.hosts[hosts++] = from.host;
    }
    for (std::size_t b = 0; b < arguments.out.size(); ++b) launch.destinations[b].out = arguments.out[b];
    keep(launch, program, arguments);
    return launch;
}

std::int64_t stripWorkBytes(const StripProgram& program, std::int64_t pieceCount, std::int64_t edges)
{
    const StripLaunch most = Builder(program, kNoShape).launch();  // kernels of shapes take no more
    return bytesBeforeKept(most, pieceCount) + total(bytesKept(program, keptRows(program), edges));
}

int stripCuda(const StripProgram& program, const StripArguments& arguments, void* stream)
{
    return arguments.destinations == 0 ? 0 : launchStrips(stripLaunch(program, arguments), stream);
}

}  // namespace hopscope::kernels

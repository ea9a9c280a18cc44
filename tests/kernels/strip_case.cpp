#include "kernels/strip_case.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>

#include "base/half.h"

namespace strip_case {

using namespace hopscope;
using namespace hopscope::kernels;
using From = StripOperand::From;

namespace {

constexpr std::int64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 20, 31, 32, 33, 47, 64, 65, 100, 128, 255, 300};

std::int64_t itemBytes(StripElement element)
{
    if (element == StripElement::Float64) return 8;
    return element == StripElement::Float32 ? 4 : 2;
}

void write(StripElement element, double value, std::byte* to)
{
    const auto single = static_cast<float>(value);
    const auto put = [to](auto bits) { std::memcpy(to, &bits, sizeof(bits)); };
    switch (element) {
    case StripElement::Float64: return put(value);
    case StripElement::Float32: return put(single);
    case StripElement::Float16: return put(base::narrow<base::Float16>(single).bits);
    case StripElement::BFloat16: return put(base::narrow<base::BFloat16>(single).bits);
    }
}

double read(StripElement element, const std::byte* from)
{
    const auto get = [from](auto value) {
        std::memcpy(&value, from, sizeof(value));
        return value;
    };
    switch (element) {
    case StripElement::Float64: return get(0.0);
    case StripElement::Float32: return static_cast<double>(get(0.0F));
    case StripElement::Float16: return static_cast<double>(base::widen(base::Float16{get(std::uint16_t{0})}));
    case StripElement::BFloat16: return static_cast<double>(base::widen(base::BFloat16{get(std::uint16_t{0})}));
    }
    return 0;
}

bool takesNarrowExtrema(const StripProgram& program)
{
    return std::ranges::any_of(program.steps, [](const StripStep& s) {
        const bool extreme = s.combine == Combine::Max || s.combine == Combine::Min;
        return s.op == StripOp::Aggregate && extreme && (s.width == 1 || s.width == 2 || s.width == 4);
    });
}

}  // namespace

Case::Case(std::uint64_t number) : seed(number), m_random(number)
{
    program.element = static_cast<StripElement>(seed % 4);
    const bool huge = seed % 61 == 60;
    heads = huge || below(3) == 0 ? 1 : 1 + below(8);
    const std::int64_t chosen = huge ? 6000 + below(1000) : widths[below(std::size(widths))];
    width = std::max<std::int64_t>(chosen / heads, 1) * heads;
    makeGraph();
    makeProgram();
    setPhases(program);
    makeOutputs();
}

Case::Case(std::uint64_t number, const Shape& shape) : seed(number), m_random(number)
{
    heads = below(3) == 0 ? 1 : 1 + below(8);
    width = std::max<std::int64_t>(widths[below(std::size(widths))] / heads, 1) * heads;
    makeGraph();
    makeSteps(shape);
    setPhases(program);
    makeOutputs();
}

void Case::makeGraph()
{
    offsets = {below(2) == 0 ? 0 : below(50)};
    const std::int64_t count = 1 + below(width > 1000 ? 5 : width > 60 ? 15 : 60);
    const std::int64_t hub = below(3) == 0 ? below(count) : -1;
    m_nodes = 1 + below(60);
    for (std::int64_t d = 0; d < count; ++d) {
        const std::int64_t some = below(5) == 0 ? 0 : below(below(6) == 0 ? 200 : 15);
        offsets.push_back(offsets.back() + (d == hub ? (width > 100 ? 1000 : 1500) + below(800) : some));
    }
    for (std::int64_t p = 0; p < offsets.back(); ++p) columns.push_back(below(m_nodes));
    narrowOffsets.assign(offsets.begin(), offsets.end());
    narrowColumns.assign(columns.begin(), columns.end());
    arguments.offsets = below(2) == 0 ? Index(offsets.data()) : Index(narrowOffsets.data());
    arguments.destinations = destinations();
}

// ---- tables

double Case::number()
{
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double rare[] = {inf, -inf, std::numeric_limits<double>::quiet_NaN(), 0, 1e30, -1e30, 1e-40, 60, -60};
    if (seed / 4 % 3 == 0 && below(40) == 0) return rare[below(std::size(rare))];
    return std::normal_distribution<double>(0, 2)(m_random);
}

std::vector<std::byte> Case::elements(std::int64_t count)
{
    const std::int64_t item = itemBytes(program.element);
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * item));
    for (std::int64_t i = 0; i < count; ++i) write(program.element, number(), bytes.data() + i * item);
    return bytes;
}

// Rows may have a gap between them; those of edges and columns may be those of the whole graph or of these destinations.
Case::Value Case::table(StripRows rows, std::int64_t columnsOfRow)
{
    StripTable t;
    t.stride = columnsOfRow + (below(2) == 0 ? 0 : 3);
    const bool alongEdges = rows == StripRows::Edges || rows == StripRows::Gathered;
    if (alongEdges && below(2) == 0) t.first = offsets[0];
    const std::int64_t edges = offsets.back() - t.first;
    const std::int64_t count = rows == StripRows::Edges          ? edges
                               : rows == StripRows::Gathered     ? m_nodes
                               : rows == StripRows::Destinations ? destinations()
                                                                 : 1;
    if (rows == StripRows::Gathered)
        t.columns = below(2) == 0 ? Index(columns.data() + t.first) : Index(narrowColumns.data() + t.first);
    tables.push_back(elements(count == 0 ? 1 : (count - 1) * t.stride + columnsOfRow));
    t.data = tables.back().data();
    arguments.tables.push_back(t);
    program.tables.push_back(rows);
    program.tableWidths.push_back(columnsOfRow);
    return {{From::Table, static_cast<int>(program.tables.size()) - 1}, columnsOfRow};
}

Case::Value Case::anyTable(std::int64_t wanted, bool perDestination)
{
    constexpr StripRows all[] = {StripRows::Gathered, StripRows::Edges, StripRows::Destinations, StripRows::Single};
    return table(all[perDestination ? 2 + below(2) : below(4)], wanted);
}

// A value of the wanted width: a table or what an earlier step has made; repeated unless it has to be `whole`.
Case::Value Case::operand(bool perDestination, std::int64_t wanted, bool whole)
{
    std::vector<Value> known = perDestination ? m_destinations : m_edges;
    if (!perDestination) known.insert(known.end(), m_destinations.begin(), m_destinations.end());
    std::erase_if(known, [&](const Value& v) { return wanted % v.width != 0 || (whole && v.width != wanted); });
    const std::int64_t part = wanted / std::gcd(wanted, heads);
    const std::int64_t narrower[] = {wanted, wanted, wanted / part, part, 1};
    Value v = !known.empty() && below(3) > 0
                  ? known[static_cast<std::size_t>(below(static_cast<std::int64_t>(known.size())))]
                  : anyTable(whole ? wanted : narrower[below(5)], perDestination);
    if (v.width < wanted) (below(2) == 0 ? v.operand.inner : v.operand.outer) = wanted / v.width;
    return v;
}

// ---- steps

// Writes into a buffer of its own, or over an operand that nothing reads afterwards.
void Case::put(StripStep step, const std::optional<Value>& over)
{
    auto& buffers = step.perDestination || step.op == StripOp::Aggregate ? program.destinations : program.edges;
    auto& values = step.perDestination || step.op == StripOp::Aggregate ? m_destinations : m_edges;
    const bool edges = &buffers == &program.edges;
    if (edges && over && over->operand.from == From::Edge && over->width == step.width && below(2) == 0) {
        step.to = over->operand.at;
        std::erase_if(values, [&](const Value& v) { return v.operand.at == step.to; });
    } else {
        buffers.push_back(step.width);
        step.to = static_cast<int>(buffers.size()) - 1;
    }
    program.steps.push_back(step);
    values.push_back({{edges ? From::Edge : From::Destination, step.to}, step.width});
}

void Case::compute(bool perDestination)
{
    StripStep s;
    s.op = static_cast<StripOp>(below(static_cast<std::int64_t>(StripOp::RowSum)));
    s.perDestination = perDestination;
    s.parameter = 0.2;
    s.width = below(3) > 0 ? width : heads;
    const bool two = s.op <= StripOp::Div;
    const bool first = two && below(2) == 0;  // may be repeated
    const Value a = operand(perDestination, s.width, !first);
    s.a = a.operand;
    if (two) s.b = operand(perDestination, s.width, first).operand;
    const bool other = s.b.from == From::Edge && s.b.at == s.a.at && !s.b.plain();
    put(s, s.a.plain() && !other ? std::optional(a) : std::nullopt);
}

void Case::sumRows()
{
    StripStep s;
    s.op = StripOp::RowSum;
    s.width = below(2) == 0 ? heads : 1;
    s.a = operand(false, width, true).operand;
    put(s, {});
}

void Case::aggregate(const Value& rows)
{
    StripStep s;
    s.op = StripOp::Aggregate;
    s.a = rows.operand;
    s.width = rows.width;
    s.combine = static_cast<Combine>(below(4));
    s.empty = below(2) == 0 ? 0 : -1.5;
    if (below(2) == 0 && s.combine <= Combine::Mean) {
        s.b = operand(false, s.width, false).operand;
        if (s.b.outer > 1) s.b = {};
    }
    put(s, {});
}

// exp(score - max) / sum, by three phases.
void Case::softmax()
{
    const auto edge = [&](StripOp op, const Value& a, const StripOperand& b) {
        StripStep s;
        s.op = op, s.a = a.operand, s.b = b, s.width = heads;
        put(s, {});
        return m_edges.back();
    };
    const auto over = [&](const Value& a, Combine combine) {
        StripStep s;
        s.op = StripOp::Aggregate, s.a = a.operand, s.width = heads, s.combine = combine;
        put(s, {});
        return m_destinations.back().operand;
    };
    const Value score = operand(false, heads, true);
    const Value power = edge(StripOp::Exp, edge(StripOp::Sub, score, over(score, Combine::Max)), {});
    Value alpha = edge(StripOp::Div, power, over(power, Combine::Sum));
    StripStep s;
    s.op = StripOp::Aggregate, s.width = width;
    s.a = table(StripRows::Gathered, width).operand;
    s.b = alpha.operand;
    s.b.inner = width / heads;
    put(s, {});
}

void Case::makeProgram()
{
    const std::int64_t rounds = 1 + below(3);
    for (std::int64_t round = 0; round < rounds; ++round) {
        for (std::int64_t n = below(4); n > 0; --n) below(5) == 0 ? sumRows() : compute(false);
        if (below(3) == 0) softmax();
        aggregate(operand(false, below(2) == 0 ? width : heads, true));
        for (std::int64_t n = below(3); n > 0; --n) compute(true);
    }
}

// Repeated rows of edges have an element for each head, as do rows that follow from them alone.
std::int64_t Case::widthOf(const Shape& shape, const ShapeStep& step) const
{
    if (step.perDestination) return program.destinations[step.a.at];
    const bool aggregate = step.op == StripOp::Aggregate;
    if (aggregate && step.a.from != From::Edge) return width;
    const int buffer = aggregate ? step.a.at : step.to;
    const bool narrow = std::any_of(shape.steps, shape.steps + shape.count, [&](const ShapeStep& s) {
        return s.b.from == From::Edge && s.b.at == buffer && !s.b.whole;
    });
    return narrow ? heads : width;
}

// Makes its table, if it is the next one.
StripOperand Case::operandOf(const ShapeOperand& known, std::int64_t wanted)
{
    const std::int64_t own = known.whole ? wanted : known.from == From::Edge ? heads : 1;
    if (known.from == From::Table && known.at == program.tables.size()) {
        StripTable& t = (table(known.rows, own), arguments.tables.back());
        if (known.rows == StripRows::Gathered) t.columns = Index(narrowColumns.data() + t.first);
    }
    return {known.from, known.at, wanted / own, 1};
}

void Case::makeSteps(const Shape& shape)
{
    for (int n = 0; n < shape.count; ++n) {
        const ShapeStep& known = shape.steps[n];
        StripStep s;
        s.op = known.op, s.combine = known.combine, s.perDestination = known.perDestination, s.to = known.to;
        s.width = widthOf(shape, known), s.parameter = 0.2, s.empty = below(2) == 0 ? 0 : -1.5;
        auto& buffers = onEdges(known) ? program.edges : program.destinations;
        if (buffers.size() <= known.to) buffers.push_back(s.width);
        program.steps.push_back(s);
    }
    std::size_t before = 0;  // tables
    do {
        before = program.tables.size();
        for (int n = 0; n < shape.count; ++n) {
            StripStep& s = program.steps[static_cast<std::size_t>(n)];
            s.a = operandOf(shape.steps[n].a, s.op == StripOp::RowSum ? width : s.width);
            s.b = operandOf(shape.steps[n].b, s.width);
        }
    } while (program.tables.size() > before);
}

// The last one is wanted.
void Case::makeOutputs()
{
    for (std::size_t b = 0; b < program.destinations.size(); ++b) {
        const bool wanted = b + 1 == program.destinations.size() || below(4) > 0;
        const std::int64_t bytes = destinations() * program.destinations[b] * itemBytes(program.element);
        out.emplace_back(static_cast<std::size_t>(wanted ? bytes : 0));
        arguments.out.push_back(wanted ? out.back().data() : nullptr);
    }
}

// ---- runs

void Case::poison()
{
    for (std::vector<std::byte>& bytes : out) std::ranges::fill(bytes, std::byte{0x5a});
}

void Case::onCpu()
{
    poison();
    std::vector<std::byte> scratch(static_cast<std::size_t>(stripScratchBytes(program)) + 64, std::byte{0xff});
    void* at = scratch.data();
    std::size_t space = scratch.size();
    stripCpu(program, arguments, 0, destinations(), static_cast<std::byte*>(std::align(64, 1, at, space)));
}

void Case::forGpu()
{
    poison();
    pieces = hubPieces(offsets.data(), destinations());
    arguments.pieceFirst = static_cast<std::int64_t>(seed % 5);
    for (HubPiece& piece : pieces) piece.destination += arguments.pieceFirst;
    arguments.pieceCount = static_cast<std::int64_t>(pieces.size());
    arguments.pieces = pieces.empty() ? nullptr : pieces.data();
    arguments.edges = seed % 7 == 0 ? 0 : offsets.back() - offsets[0];
    work.assign(static_cast<std::size_t>(stripWorkBytes(program, arguments.pieceCount, arguments.edges)),
                std::byte{0xff});
    arguments.work = work.data();
}

void Case::divideRows()
{
    const std::int64_t item = itemBytes(program.element);
    for (std::size_t t = 0; t < tables.size(); ++t) {
        if (program.tables[t] != StripRows::Gathered || divided.size() == hopscope::kernels::kStripHosts) continue;
        StripTable& table = arguments.tables[t];
        const DividedRows& rows = divided.emplace_back(tables[t].data(), m_nodes, program.tableWidths[t] * item,
                                                       table.stride * item, seed + t);
        table.data = rows.device.data();
        table.host = rows.arguments();
    }
}

std::string describe(const Case& c)
{
    return "seed " + std::to_string(c.seed) + ", width " + std::to_string(c.width) + " in " + std::to_string(c.heads) +
           " parts, " + std::to_string(c.program.steps.size()) + " steps, " + std::to_string(c.destinations()) +
           " destinations, " + std::to_string(c.offsets.back() - c.offsets[0]) + " edges";
}

std::optional<std::string> difference(const Case& want, const Case& made)
{
    const StripElement element = want.program.element;
    const auto item = static_cast<std::size_t>(itemBytes(element));
    const bool anyZero = takesNarrowExtrema(want.program);
    for (std::size_t b = 0; b < want.out.size(); ++b)
        for (std::size_t at = 0; at < want.out[b].size(); at += item) {
            const std::byte *const wanted = want.out[b].data() + at, *const is = made.out[b].data() + at;
            const double x = read(element, wanted), y = read(element, is);
            const bool same = std::memcmp(wanted, is, item) == 0 || (x != x && y != y);
            if (same || (anyZero && x == 0 && y == 0)) continue;
            return "element " + std::to_string(at / item) + " of buffer " + std::to_string(b) + " is " +
                   std::to_string(y) + " instead of " + std::to_string(x);
        }
    return std::nullopt;
}

}  // namespace strip_case

// ResidentChoice: which tables and parts of the graph stay on a GPU.

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/rows/classes.h"
#include "analysis/stored.h"
#include "executor/rows/row_numbers.h"
#include "executor/session/residents.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

// Whether the columns on a device have all rows that strips gather where they lie.
bool isSliced(const StripPart& part)
{
    return part.messages.kind == RowKind::Owned && std::ranges::all_of(part.tables, [](const StripTableSource& t) {
               return !t.inPlace() || executor::isSliced(t.place.messages, t.place.columnSpace, t.place.columnKey);
           });
}

}  // namespace

bool canDivide(const analysis::Analysis& analysis, ir::ValueId value, base::StoreType store, bool steady)
{
    const bool output =
        std::ranges::find(analysis.program.outputs, value, &ir::NamedValue::value) != analysis.program.outputs.end();
    const bool input = analysis.program.value(value).origin == ir::Origin::Input;
    const bool stored = !analysis.available(value) && !output && !analysis::isNarrowed(analysis, value, store);
    return !steady && analysis.hasRows(value) && analysis.rowDim(value) == 0 && (input || stored);
}

ResidentChoice::ResidentChoice(const analysis::Analysis& analysis, const plan::Plan& plan, const SameValues& same,
                               bool gpu, bool journal)
    : m_structure(gpu && plan.residentStructure),
      m_journal(journal),
      m_analysis(analysis),
      m_same(same)
{
    for (const ir::NamedValue& o : analysis.program.outputs) m_outputs.insert(o.value);
    if (!gpu) return;
    m_values.insert(plan.resident.begin(), plan.resident.end());
    for (const plan::CachedTable& c : plan.cached)
        if (!journal && !m_values.contains(c.value)) m_divided[c.value] = c.share;
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops)
            for (const plan::FrontierSource& s : loop.frontier)
                if (executor::isSliced(analysis::owned(analysis, s.space, s.owner), s.space, s.key))
                    m_gathers[s.type].insert({s.space, s.owner, s.key});
}

std::int64_t ResidentChoice::cachedRows(ir::ValueId value, Structure& structure) const
{
    const auto rows = static_cast<double>(structure.size(m_analysis.rowSpace(value)));
    return std::llround(rows * std::clamp(m_divided.at(value), 0.0, 1.0));
}

const GatherColumns& ResidentChoice::gathersOf(ir::SpaceId table) const
{
    static const GatherColumns none;
    const auto known = m_gathers.find(table);
    return known == m_gathers.end() ? none : known->second;
}

bool ResidentChoice::skips(const Instruction& i) const
{
    if (i.act == Act::Read && holds(i.value)) return i.rows.kind == RowKind::Batch || inOrder(i);
    if (i.act == Act::Positions) return m_structure && i.owners;
    if (i.act == Act::Pick) return m_structure && isSliced(i.rows, i.space, i.key);
    if (i.act == Act::Strips) return m_structure && isSliced(*i.strips);
    return i.act == Act::Segment && m_structure && i.segment.messages.kind == RowKind::Owned;
}

ResidentPart ResidentChoice::known(ResidentPart part) const
{
    if (part.value.valid()) part.value = m_same.first(part.value);
    return part;
}

namespace {

// The parts of the graph that an instruction without data from the host reads.
std::vector<ResidentPart> structureOf(const Instruction& i)
{
    const auto columns = [](const RowClass& rows, ir::SpaceId space, ir::KeyId key) {
        return ResidentPart{.kind = ResidentPart::Columns, .value = {}, .rows = rows, .space = space, .key = key};
    };
    const auto of = [](ResidentPart::Kind kind, const RowClass& rows) {
        return ResidentPart{.kind = kind, .value = {}, .rows = rows};
    };
    switch (i.act) {
    case Act::Positions: return {of(ResidentPart::Offsets, i.rows)};
    case Act::Pick: return {columns(i.rows, i.space, i.key)};
    case Act::Segment: {
        const Segment& s = i.segment;
        std::vector<ResidentPart> parts{of(ResidentPart::Offsets, s.messages), of(ResidentPart::Pieces, s.messages)};
        if (s.from < 0) parts.push_back(columns(s.messages, s.columnSpace, s.columnKey));
        return parts;
    }
    case Act::Strips: {
        const RowClass& messages = i.strips->messages;
        std::vector<ResidentPart> parts{of(ResidentPart::Offsets, messages), of(ResidentPart::Pieces, messages)};
        for (const StripTableSource& t : i.strips->tables)
            if (t.inPlace()) parts.push_back(columns(messages, t.place.columnSpace, t.place.columnKey));
        return parts;
    }
    default: return {};
    }
}

// Rows that an instruction gathers where they lie, for each row of a class.
struct Gather {
    ir::ValueId value;
    RowClass on;
    ir::SpaceId space;
    ir::KeyId key;
    std::int64_t times = 1;  // that a kernel reads them
};

std::int64_t timesRead(const StripPart& part, std::size_t table)
{
    const auto reads = [&](const kernels::StripOperand& o) {
        return o.from == kernels::StripOperand::From::Table && static_cast<std::size_t>(o.at) == table ? 1 : 0;
    };
    std::int64_t times = 0;
    for (const kernels::StripStep& s : part.program.steps) times += reads(s.a) + reads(s.b);
    return times;
}

std::vector<Gather> gathersBy(const Instruction& i)
{
    if (i.act == Act::Pick) return {{i.value, i.rows, i.space, i.key}};
    const auto along = [](ir::ValueId value, const Segment& s) {
        return Gather{.value = value, .on = s.messages, .space = s.columnSpace, .key = s.columnKey};
    };
    if (i.act == Act::Segment && i.segment.from < 0) return {along(i.segment.source, i.segment)};
    std::vector<Gather> found;
    if (i.act == Act::Strips)
        for (std::size_t t = 0; t < i.strips->tables.size(); ++t)
            if (const StripTableSource& table = i.strips->tables[t]; table.inPlace()) {
                found.push_back(along(table.value, table.place));
                found.back().times = timesRead(*i.strips, t);
            }
    return found;
}

// Destinations as positions of their adjacency.
std::int64_t usesIn(const Ranges& part, const graph::Adjacency& order,
                    const std::function<std::int64_t(PositionRange)>& uses)
{
    std::int64_t sum = 0;
    for (const Destinations& range : part)
        if (range.count > 0) sum += uses({order.begin(range.first), order.end(range.first + range.count - 1)});
    return sum;
}

}  // namespace

Gathers ResidentChoice::gathers(const LoopProgram& program, ir::ValueId table) const
{
    Gathers found = Gathers::No;
    for (const Instruction& i : program.instructions) {
        const std::vector<Gather> all = gathersBy(i);
        const auto divided =
            std::ranges::count_if(all, [&](const Gather& g) { return divides(program.tableOf(g.value)); });
        if (i.act == Act::Strips && divided > kernels::kStripHosts) return Gathers::Otherwise;
        for (const Gather& g : all) {
            if (program.tableOf(g.value) != table) continue;
            const bool counted = gathersOf(m_analysis.rowSpace(table)).contains({g.space, g.on.key, g.key});
            if (!counted || !executor::isSliced(g.on, g.space, g.key)) return Gathers::Otherwise;
            found = Gathers::AlongColumns;
        }
    }
    return found;
}

std::int64_t ResidentChoice::hostReads(const LoopProgram& program, Structure& structure,
                                       const std::optional<Ranges>& part) const
{
    std::int64_t bytes = 0;
    for (const Instruction& i : program.instructions)
        for (const Gather& g : gathersBy(i)) {
            const ir::ValueId table = program.tableOf(g.value);
            if (!divides(table) || !executor::isSliced(g.on, g.space, g.key)) continue;
            const GatherColumn column{g.space, g.on.key, g.key};
            const auto uses = [&](std::optional<PositionRange> positions) {
                const ir::SpaceId rows = m_analysis.rowSpace(table);
                return structure.useOrders.usesFrom(column, structure.useOrders.places(rows, gathersOf(rows)),
                                                    cachedRows(table, structure), positions);
            };
            const std::int64_t all =
                part ? usesIn(*part, structure.adjacency(g.space, g.on.key), uses) : uses(std::nullopt);
            bytes += g.times * all * rowBytes(m_analysis, table, structure.sizes());
        }
    return bytes;
}

std::vector<ResidentPart> ResidentChoice::parts(const LoopProgram& program) const
{
    std::vector<ResidentPart> found;
    const auto add = [&](const ResidentPart& wanted) {
        const ResidentPart part = known(wanted);
        if (std::ranges::find(found, part) == found.end()) found.push_back(part);
    };
    for (const Instruction& i : program.instructions) {
        if (i.act == Act::Read && holds(i.value)) {
            if (inOrder(i)) add({.kind = ResidentPart::Owned, .value = i.value, .rows = i.rows});
            else add({ResidentPart::Table, i.value});
        }
        for (const Gather& g : gathersBy(i)) {
            const ir::ValueId table = program.tableOf(g.value);
            if (holds(table)) add({ResidentPart::Table, table});
            if (!divides(table)) continue;
            add({ResidentPart::Cached, table});
            add({.kind = ResidentPart::Places, .value = {}, .rows = {}, .space = m_analysis.rowSpace(table)});
        }
        if (skips(i))
            for (const ResidentPart& part : structureOf(i)) add(part);
    }
    for (const Written& w : program.writes)
        if (holds(w.value)) add({ResidentPart::Store, w.value});
    return found;
}

std::int64_t ResidentChoice::bytes(const ResidentPart& part, Structure& structure) const
{
    switch (part.kind) {
    case ResidentPart::Columns:
        return structure.adjacency(part.rows.table, part.rows.key).rows() *
               numberBytes(structure.size(m_analysis.tables.target(part.space, part.key)));
    case ResidentPart::Offsets: {
        const graph::Adjacency& adjacency = structure.adjacency(part.rows.table, part.rows.key);
        return (adjacency.targets() + 1) * numberBytes(adjacency.rows());
    }
    case ResidentPart::Pieces:
        return static_cast<std::int64_t>(structure.hubPieces(part.rows.table, part.rows.key).size() *
                                         sizeof(kernels::HubPiece));
    case ResidentPart::Cached:
        return cachedRows(part.value, structure) * rowBytes(m_analysis, part.value, structure.sizes());
    case ResidentPart::Places: return structure.size(part.space) * static_cast<std::int64_t>(sizeof(std::int32_t));
    default: break;
    }
    return wholeBytes(m_analysis, part.value, structure.sizes());
}

std::vector<ResidentLoad> ResidentChoice::added(const LoopProgram& program, const Held& held,
                                                Structure& structure) const
{
    std::vector<ResidentLoad> loads;
    for (const ResidentPart& part : parts(program)) {
        const bool made = part.kind == ResidentPart::Table && held({ResidentPart::Store, part.value});
        if (made || held(part)) continue;
        ResidentLoad& load =
            loads.emplace_back(ResidentLoad{.part = part, .bytes = bytes(part, structure), .copied = {}});
        const bool rows = part.value.valid() && !m_analysis.info(part.value).structureOnly;
        if (part.kind != ResidentPart::Store) (rows ? load.copied.h2d : load.copied.structure) = load.bytes;
    }
    return loads;
}

// Values that a stage has computed are tables to later ones.
bool ResidentChoice::usedAfter(const ResidentPart& part, std::size_t stage,
                               const std::vector<std::vector<LoopProgram>>& programs) const
{
    ResidentPart wanted = part;
    if (wanted.kind == ResidentPart::Store) wanted.kind = ResidentPart::Table;
    for (std::size_t later = stage + 1; later < programs.size(); ++later)
        for (const LoopProgram& program : programs[later]) {
            const std::vector<ResidentPart> used = parts(program);
            if (std::ranges::find(used, wanted) != used.end()) return true;
        }
    return false;
}

bool ResidentChoice::readAfter(ir::ValueId table, std::size_t stage,
                               const std::vector<std::vector<LoopProgram>>& programs) const
{
    const auto reads = [&](const LoopProgram& program) {
        return gathers(program, table) != Gathers::No ||
               std::ranges::any_of(program.instructions,
                                   [&](const Instruction& i) { return i.act == Act::Read && i.value == table; });
    };
    for (std::size_t later = stage + 1; later < programs.size(); ++later)
        if (std::ranges::any_of(programs[later], reads)) return true;
    return false;
}

}  // namespace hopscope::executor

#include "executor/halo.h"

#include <algorithm>

#include "analysis/naming/value_names.h"
#include "analysis/rows/classes.h"
#include "analysis/stored.h"

namespace hopscope::executor {

namespace {

constexpr std::int64_t atOnce = 1 << 17;  // destinations

// Calls it with the global numbers of the rows of a class, piece by piece; rows that are no destinations may come again.
template <class Visit>
void eachRow(Session& session, const plan::Loop& loop, const std::vector<ir::RowClass>& classes,
             const Destinations& range, Visit&& visit)
{
    Block block(session.structure, session.analysis, loop);
    const std::int64_t end = range.first + range.count;
    for (std::int64_t first = range.first; first < end; first += atOnce) {
        session.checkStop();
        block.begin({first, std::min(atOnce, end - first)});
        for (std::size_t c = 0; c < classes.size(); ++c) {
            const at::Tensor rows = block.rows(classes[c]);
            const std::int64_t* const row = rows.const_data_ptr<std::int64_t>();
            for (std::int64_t i = 0; i < rows.numel(); ++i) visit(c, row[i]);
        }
        block.end();
    }
}

// Rows come in ascending order.
void add(HaloRows& halo, std::int64_t row)
{
    if (halo.runs.empty() || halo.runs.back().first + halo.runs.back().count != row) halo.runs.push_back({row, 0});
    ++halo.runs.back().count;
    ++halo.rows;
}

}  // namespace

Halo::Halo(Session& session, const StagePrograms& programs, const OwnedRanges& ranges)
    : m_session(session),
      m_programs(programs),
      m_ranges(ranges)
{
    for (std::size_t s = 0; s < programs.size(); ++s)
        for (std::size_t l = 0; l < programs[s].size(); ++l)
            for (const Written& w : programs[s][l].writes)
                m_writers[w.value] = {{plan::StageId::at(s), static_cast<int>(l) + 1}, w.rows};
    for (const auto& loops : programs)
        for (const LoopProgram& program : loops) refuseWhole(program);
}

void Halo::refuseWhole(const LoopProgram& program) const
{
    for (const plan::Access& read : program.loop->reads)
        if (m_writers.contains(read.value) && read.rows.kind == ir::RowKind::All)
            raise(base::ErrorCode::Unsupported,
                  "all rows of " + analysis::nameOfValue(m_session.analysis, read.value) +
                      " are read at once, which workers without a shared folder do not have",
                  "--layout shared computes it");
}

std::int64_t Halo::rowsOf(ir::ValueId value) { return m_session.structure.size(m_session.analysis.rowSpace(value)); }

std::int64_t Halo::rowBytes(ir::ValueId value)
{
    const std::int64_t rows = rowsOf(value);
    const std::int64_t bytes = wholeBytes(m_session.analysis, value, m_session.structure.sizes());
    return rows ? analysis::storedBytes(m_session.analysis, value, m_session.storeType(), bytes) / rows : 0;
}

std::vector<ir::ValueId> Halo::valuesOf(plan::StageId stage) const
{
    std::vector<ir::ValueId> values;
    for (const auto& [value, writer] : m_writers)
        if (writer.loop.stage == stage) values.push_back(value);
    return values;
}

const std::vector<Halo::Owner>& Halo::ownersOf(ir::ValueId value)
{
    const Writer& writer = m_writers.at(value);
    std::vector<Owner>& owners = m_owners[writer];
    if (!owners.empty()) return owners;
    owners.resize(static_cast<std::size_t>(rowsOf(value)));
    const LoopProgram& program = m_programs.at(static_cast<std::size_t>(writer.loop.stage.number) - 1)
                                     .at(static_cast<std::size_t>(writer.loop.loop) - 1);
    for (int owner = 1; owner <= m_ranges.count(); ++owner)
        eachRow(
            m_session, *program.loop, {writer.rows}, m_ranges.of(writer.loop, owner),
            [&](std::size_t, std::int64_t row) { owners[static_cast<std::size_t>(row)] = static_cast<Owner>(owner); });
    return owners;
}

std::int64_t Halo::owned(ir::ValueId value, int owner) { return std::ranges::count(ownersOf(value), owner); }

void Halo::mark(const LoopProgram& program, const Destinations& range, Marks& marks)
{
    std::vector<ir::RowClass> classes;
    std::vector<std::vector<bool>*> wanted;
    for (const plan::Access& read : program.loop->reads) {
        if (!m_writers.contains(read.value)) continue;
        std::vector<bool>& rows = marks[read.value];
        rows.resize(static_cast<std::size_t>(rowsOf(read.value)));
        classes.push_back(read.rows);
        wanted.push_back(&rows);
    }
    eachRow(m_session, *program.loop, classes, range,
            [&](std::size_t c, std::int64_t row) { (*wanted[c])[static_cast<std::size_t>(row)] = true; });
}

std::vector<HaloRows> Halo::split(ir::ValueId value, const std::vector<bool>& wanted, int reader)
{
    const std::vector<Owner>& owners = ownersOf(value);
    std::map<int, HaloRows> byOwner;
    for (std::size_t row = 0; row < wanted.size(); ++row) {
        if (!wanted[row] || owners[row] == reader) continue;
        auto found = byOwner.find(owners[row]);
        if (found == byOwner.end()) found = byOwner.emplace(owners[row], noneOf(value, owners[row])).first;
        add(found->second, static_cast<std::int64_t>(row));
    }
    std::vector<HaloRows> halos;
    for (auto& [owner, halo] : byOwner) halos.push_back(std::move(halo));
    return halos;
}

HaloRows Halo::noneOf(ir::ValueId value, int owner)
{
    HaloRows halo{.value = value, .stage = m_writers.at(value).loop.stage, .from = owner, .runs = {}};
    halo.rowBytes = rowBytes(value);
    return halo;
}

std::vector<HaloRows> Halo::ownedBy(int owner)
{
    std::vector<HaloRows> all;
    for (const auto& [value, writer] : m_writers) {
        if (owner == 0) continue;
        HaloRows mine = noneOf(value, owner);
        const std::vector<Owner>& owners = ownersOf(value);
        for (std::size_t row = 0; row < owners.size(); ++row)
            if (owners[row] == owner) add(mine, static_cast<std::int64_t>(row));
        if (mine.rows > 0) all.push_back(std::move(mine));
    }
    std::ranges::stable_sort(all, {}, &HaloRows::stage);
    return all;
}

std::vector<HaloRows> Halo::of(int owner)
{
    Marks marks;
    if (owner == 0)
        for (const ir::NamedValue& o : m_session.analysis.program.outputs)
            if (m_writers.contains(o.value)) marks[o.value].assign(static_cast<std::size_t>(rowsOf(o.value)), true);
    for (std::size_t s = 0; owner > 0 && s < m_programs.size(); ++s)
        for (std::size_t l = 0; l < m_programs[s].size(); ++l)
            mark(m_programs[s][l], m_ranges.of({plan::StageId::at(s), static_cast<int>(l) + 1}, owner), marks);
    std::vector<HaloRows> all;
    for (const auto& [value, wanted] : marks) std::ranges::move(split(value, wanted, owner), std::back_inserter(all));
    std::ranges::stable_sort(all, {}, &HaloRows::stage);
    return all;
}

}  // namespace hopscope::executor

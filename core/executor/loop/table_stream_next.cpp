// Keeps the results of a loop that the next one reads in memory.

#include <algorithm>
#include <utility>

#include "executor/loop/table_stream.h"

namespace hopscope::executor {

using ir::RowKind;

namespace {

// The next loop may find a little less room.
constexpr std::int64_t surelyOf32 = 31;
// Bytes of own rows of finished tiles that are not released yet, or that lie in sparsely used blocks: the first and the
// last one of the requested rows, and of the others.
constexpr std::int64_t mostBehind = KeptRows::releasedAtOnce + 5 * graph::SparePages::block;

// The keys by which rows are requested, with the types of the tables.
std::vector<std::pair<ir::SpaceId, Ask>> keysOf(const analysis::Analysis& analysis, const LoopProgram& program)
{
    std::vector<std::pair<ir::SpaceId, Ask>> keys;
    for (Ask ask : asksOf(program)) {
        const ir::SpaceId type = analysis.rowSpace(std::exchange(ask.table, {}));
        if (std::ranges::find(keys, std::pair{type, ask}) == keys.end()) keys.emplace_back(type, ask);
    }
    return keys;
}

bool readsOwn(const LoopProgram& program, ir::ValueId table)
{
    return std::ranges::any_of(program.instructions, [&](const Instruction& i) {
        return i.act == Act::Read && i.value == table && i.rows.kind == RowKind::Batch && !i.inOrder;
    });
}

std::int64_t bytesFrom(const std::map<ir::ValueId, HandedRows::Wanted>& wanted, std::int64_t first)
{
    std::int64_t sum = 0;
    for (const auto& [value, w] : wanted)
        for (const auto* const set : {&w.asked, &w.own})
            if (*set) sum += w.rowBytes * (*set)->countIn(first, (*set)->rows());
    return sum;
}

}  // namespace

TableStream::RowBytes TableStream::askedByNext() const
{
    RowBytes tables;
    for (const Ask& ask : asksOf(*m_next)) {
        const auto store = m_session.stores.find(ask.table);
        tables[ask.table] =
            store != m_session.stores.end() ? store->second->rowBytes() : rowBytesIn(m_session.table(ask.table).rows);
    }
    return tables;
}

// The first window of the next loop. Its requested rows are known where its destinations use the same keys as those of
// this window, provided that this window covers the whole loop.
Destinations TableStream::firstOfNext(const Destinations& window, const SharedSets& sets, SharedSets& asked) const
{
    const RowBytes tables = askedByNext();
    const Destinations all{0, m_session.structure.size(m_next->loop->destination)};
    const std::int64_t least = room() / 32 * surelyOf32;
    const auto keys = [&](const LoopProgram& program) { return keysOf(m_session.analysis, program); };
    const bool same = window.first == 0 && m_next->loop->destination == m_program.loop->destination &&
                      keys(m_program) == keys(*m_next);
    const bool known =
        same && std::ranges::all_of(tables, [&](const auto& t) { return sets.contains(spaceOf(t.first)); });
    if (!known || bytes(sets, tables) > least) return choose(*m_next, tables, all, least, asked);
    asked = sets;
    return all;
}

std::map<ir::ValueId, HandedRows::Wanted> TableStream::wantedNext(const Destinations& next,
                                                                  const SharedSets& asked) const
{
    const ir::SpaceId type = m_program.loop->destination;
    const std::vector<Ask> asks = asksOf(*m_next);
    std::map<ir::ValueId, HandedRows::Wanted> wanted;
    for (const Written& w : m_program.writes) {
        const bool own = w.rows.kind == RowKind::Batch && spaceOf(w.value) == type;
        if (!own || m_session.analysis.rowDim(w.value) != 0) continue;
        if (std::ranges::find(asks, w.value, &Ask::table) == asks.end()) continue;
        const auto& rows = asked.at(type);
        HandedRows::Wanted& made = wanted[w.value];
        made = {.asked = rows, .own = nullptr, .first = 0, .rowBytes = m_session.stores.at(w.value)->rowBytes()};
        if (readsOwn(*m_next, w.value))
            made.own =
                std::make_shared<const graph::RowSet>(graph::RowSet::range(rows->rows(), 0, next.count).without(*rows));
    }
    return wanted;
}

// Keeps as many as possible of the last rows that the first window of the next loop reads, besides those of this
// window. This window's own rows, which are in memory from `firstOwn` on, are released a little after their tiles are
// done: both together take most memory when the first of them are used, or at the end.
void TableStream::handOn(Window& window, const SharedSets& sets, std::int64_t firstOwn)
{
    const Destinations& range = window.range();
    const std::int64_t end = range.first + range.count;
    const bool last = end == m_session.structure.size(m_program.loop->destination);
    if (!last || !m_next || !m_next->tiling || !inOrder(m_session, *m_next)) return;
    const bool reads = std::ranges::any_of(m_program.writes, [asks = asksOf(*m_next)](const Written& w) {
        return std::ranges::find(asks, w.value, &Ask::table) != asks.end();
    });
    if (!reads || tableBytes(*m_next) <= usable()) return;
    const Destinations next = firstOfNext(range, sets, m_leaving.asked);
    std::map<ir::ValueId, HandedRows::Wanted> wanted = wantedNext(next, m_leaving.asked);
    const std::int64_t later = std::min(mostBehind, ownBytes(firstOwn, range, sets));
    const std::int64_t left = room() - bytes(sets, gatheredRows()) - later;
    const std::int64_t first = firstThatFits(range, [&](std::int64_t from) {
        const std::int64_t fullest = std::max(from, firstOwn), all = bytesFrom(wanted, from);
        return all <= left && ownBytes(fullest, range, sets) + all - bytesFrom(wanted, fullest) <= left;
    });
    if (first == end) return;
    m_leaving.destinations = next.count;
    const auto spare = std::make_shared<graph::SparePages>();
    window.giveTo(spare);
    for (auto& [value, rows] : wanted) {
        rows.first = first;
        const std::int64_t all = rows.asked->rows() * rows.rowBytes;
        const auto handed = std::make_shared<HandedRows>(rows, std::min(room(), all), spare);
        m_session.stores.at(value)->tell(
            [handed](std::int64_t row, std::int64_t count, const std::byte* bytes) { handed->put(row, count, bytes); });
        m_leaving.rows.emplace(value, handed);
    }
}

}  // namespace hopscope::executor

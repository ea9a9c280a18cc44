// What stays in memory of a loop's results, because the next loop reads it.

#include <algorithm>

#include "executor/table_stream.h"

namespace hopscope::executor {

using ir::RowKind;

namespace {

constexpr std::int64_t markedAtOnce = 256;  // tiles

// By which keys rows of tables of this type are asked for.
std::vector<Ask> keysInto(const analysis::Analysis& analysis, const LoopProgram& program, ir::SpaceId type)
{
    std::vector<Ask> keys;
    for (Ask ask : asksOf(program)) {
        if (analysis.rowSpace(ask.table) != type) continue;
        ask.table = {};
        if (std::ranges::find(keys, ask) == keys.end()) keys.push_back(ask);
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
    for (const auto& [value, w] : wanted) {
        const std::int64_t rows = w.asked->rows();
        sum += w.rowBytes * (w.own ? rows - first : w.asked->countIn(first, rows));
    }
    return sum;
}

}  // namespace

// Without the numbers of rows that are asked for.
std::map<ir::ValueId, HandedRows::Wanted> TableStream::wantedNext() const
{
    std::map<ir::ValueId, HandedRows::Wanted> wanted;
    const std::vector<Ask> asks = asksOf(*m_next);
    for (const Written& w : m_program.writes) {
        const bool own = w.rows.kind == RowKind::Batch && spaceOf(w.value) == m_program.loop->destination;
        if (!own || m_session.analysis.rowDim(w.value) != 0) continue;
        if (std::ranges::find(asks, w.value, &Ask::table) == asks.end()) continue;
        wanted[w.value] = {.asked = nullptr,
                           .own = readsOwn(*m_next, w.value),
                           .first = 0,
                           .rowBytes = m_session.stores.at(w.value)->rowBytes()};
    }
    return wanted;
}

// By all of the next loop's destinations. Where these use the same keys as those of the window, which are all of this loop,
// that is known.
std::shared_ptr<const graph::RowSet> TableStream::askedNext(const Destinations& window, const SharedSets& sets) const
{
    const ir::SpaceId type = m_program.loop->destination;
    const auto keys = [&](const LoopProgram& program) { return keysInto(m_session.analysis, program, type); };
    const bool same = window.first == 0 && m_next->loop->destination == type && keys(m_program) == keys(*m_next);
    if (const auto known = sets.find(type); same && known != sets.end()) return known->second;
    Sets asked;
    asked.try_emplace(type, m_session.structure.size(type));
    const std::int64_t count = m_session.structure.size(m_next->loop->destination);
    const std::int64_t step = m_next->tiling->rows * markedAtOnce;
    for (std::int64_t first = 0; first < count; first += step) {
        m_session.checkStop();
        mark(*m_next, {first, std::min(step, count - first)}, asked);
    }
    return shared(std::move(asked)).at(type);
}

// As many of the last rows as there is room for beside those of the window. Own rows of its destinations leave room as tiles
// are computed; they have been read from some destination before these rows on, or there would be no room for these.
void TableStream::handOn(Window& window, const SharedSets& sets)
{
    const ir::SpaceId type = m_program.loop->destination;
    const Destinations& range = window.range();
    const std::int64_t end = range.first + range.count;
    const bool last = end == m_session.structure.size(type);
    if (!last || !m_next || !m_next->tiling || !inOrder(m_session, *m_next)) return;
    std::map<ir::ValueId, HandedRows::Wanted> wanted = wantedNext();
    if (wanted.empty()) return;
    const auto asked = askedNext(range, sets);
    for (auto& [value, rows] : wanted) rows.asked = asked;
    const std::int64_t left = room() - bytes(sets);
    const std::int64_t first =
        firstThatFits(range, [&](std::int64_t from) { return bytesFrom(wanted, from) <= left; });
    if (first == end) return;
    const auto spare = std::make_shared<graph::SparePages>();
    window.giveTo(spare);
    for (auto& [value, rows] : wanted) {
        rows.first = first;
        const auto handed = std::make_shared<HandedRows>(rows, spare);
        m_session.stores.at(value)->tell(
            [handed](std::int64_t row, std::int64_t count, const std::byte* bytes) { handed->put(row, count, bytes); });
        m_leaving.emplace(value, handed);
    }
}

}  // namespace hopscope::executor

#include "executor/batch/batch_results.h"

#include "analysis/stored.h"
#include "executor/program/loop_program.h"
#include "loader/tensors.h"

namespace hopscope::executor {

bool BatchResults::narrows(const Written& w) const
{
    return analysis::isNarrowed(m_session.analysis, w.value, m_session.storeType());
}

std::int64_t BatchResults::bytes()
{
    std::int64_t bytes = 0;
    for (const Written& w : m_program.writes) {
        if (!m_session.choice.onlyHere(w.value))
            bytes += StagingChunk::rounded(m_block.count(w.rows) * m_session.stores.at(w.value)->rowBytes());
        if (narrows(w)) bytes += StagingChunk::page;  // rounding errors
    }
    return bytes;
}

// Values are rounded here, not when they are stored: if that runs out of memory, the batch is repeated.
void BatchResults::make(const Registers& registers)
{
    for (const Written& w : m_program.writes) {
        const at::Tensor& made = registers[static_cast<std::size_t>(w.from)];
        Rows rows{.written = &w, .values = made, .loss = {}};
        if (narrows(w)) round(rows);
        if (m_session.choice.holds(w.value)) m_kept.emplace_back(&w, rows.values.to(made.scalar_type()));
        const bool here = m_session.choice.onlyHere(w.value);
        if (!here) m_bytes += static_cast<std::int64_t>(rows.values.nbytes());
        if (!here && !m_feed.follow(w.value, w.rows)) m_feed.rowNumbers(w.value, w.rows);
        if (here) rows.values = at::Tensor();
        if (!here || rows.loss.defined()) m_here.push_back(std::move(rows));
    }
}

void BatchResults::keep(const std::vector<Given>& given)
{
    for (const auto& [written, made] : std::exchange(m_kept, {})) keep(*written, made, given);
}

void BatchResults::round(Rows& rows) const
{
    const auto type = analysis::storedType(m_session.analysis, rows.written->value, m_session.storeType());
    const at::Tensor rounded = rows.values.to(loader::scalarType(type));
    rows.loss = lossOf(rows.values, rounded);
    rows.values = rounded;
}

void BatchResults::download(StagingChunk& chunk)
{
    for (Rows& rows : m_here)
        for (at::Tensor* const t : {&rows.values, &rows.loss})
            if (t->defined()) *t = downloaded(*t, chunk);
}

std::vector<at::Tensor> BatchResults::leave()
{
    std::vector<at::Tensor> there;
    StagingChunk none;
    for (Rows& rows : std::exchange(m_here, {})) {
        const auto add = [&](const at::Tensor& t, bool isLoss) {
            m_inParts.emplace_back(rows.written, isLoss);
            there.push_back(t.contiguous());
        };
        if (rows.loss.defined()) add(rows.loss, true);
        if (!rows.values.defined()) continue;
        if (m_session.analysis.rowDim(rows.written->value) == 0 && rows.values.numel() > 0) {
            add(rows.values, false);
            continue;
        }
        m_session.device.order(Lane::Compute, Lane::Download);
        m_here.push_back({.written = rows.written, .values = downloaded(rows.values, none), .loss = {}});
    }
    return there;
}

at::Tensor BatchResults::downloaded(const at::Tensor& made, StagingChunk& chunk)
{
    at::Tensor host = chunk.take(made.sizes(), made.scalar_type());
    m_session.device.download(made, host);
    return host;
}

// Into a table on the device; in a dry run there is none.
void BatchResults::keep(const Written& w, const at::Tensor& made, const std::vector<Given>& given)
{
    if (m_session.standIn) return;
    const at::Tensor& table = m_session.residents.table(w.value);
    if (m_feed.follow(w.value, w.rows)) {
        table.narrow(0, m_block.destinations().first, made.size(0)).copy_(made);
        return;
    }
    std::size_t place = m_program.instructions.size();
    for (const Written* earlier = m_program.writes.data(); earlier != &w; ++earlier)
        place += m_session.choice.holds(earlier->value) && !m_feed.follow(earlier->value, earlier->rows) ? 1 : 0;
    table.index_copy_(0, given.at(place).rows.to(at::kLong), made);
}

std::vector<StoredPart> BatchResults::store()
{
    std::vector<StoredPart> parts;
    for (const Rows& rows : m_here) {
        std::optional<Rounding> lost;
        if (rows.loss.defined()) lost = adopt(*rows.written, rows.loss);
        if (!rows.values.defined()) continue;
        const StoredRows stored = store(*rows.written, 0, rows.values);
        if (m_session.options.journal) parts.push_back({digestOf(stored.rows), lost});
    }
    m_here.clear();
    return parts;
}

void BatchResults::storePart(std::size_t result, std::int64_t first, const at::Tensor& rows)
{
    const auto& [written, isLoss] = m_inParts.at(result);
    if (isLoss) adopt(*written, rows);
    else store(*written, first, rows);
}

Rounding BatchResults::adopt(const Written& w, const at::Tensor& loss)
{
    const Rounding lost = roundingOf(loss);
    if (m_session.choice.onlyHere(w.value)) m_session.roundedHere[w.value].add(lost);
    else m_session.stores.at(w.value)->adoptLoss(lost);
    return lost;
}

StoredRows BatchResults::store(const Written& w, std::int64_t first, const at::Tensor& rows)
{
    Store& store = *m_session.stores.at(w.value);
    const std::int64_t count = rows.size(store.rowDim());
    return m_times.time(Phase::Write, m_session.began(), [&] {
        if (m_feed.follow(w.value, w.rows)) return store.writeRange(m_block.destinations().first + first, rows);
        return store.write(m_feed.rowNumbers(w.value, w.rows).narrow(0, first, count), rows);
    });
}

void BatchResults::clear()
{
    m_here.clear();
    m_kept.clear();
    m_inParts.clear();
    m_bytes = 0;
    m_times = {};
}

}  // namespace hopscope::executor

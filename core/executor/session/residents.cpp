#include "executor/session/residents.h"

#include <algorithm>
#include <bit>

#include <ATen/Parallel.h>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "base/proc.h"
#include "executor/device/staging.h"
#include "executor/device/table_upload.h"
#include "executor/rows/row_numbers.h"
#include "executor/session/session.h"
#include "graph/mapped_source.h"
#include "loader/tensors.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::int64_t grain = 1 << 16;

}  // namespace

plan::Bytes Residents::load(const LoopProgram& program)
{
    plan::Bytes moved;
    const auto held = [&](const ResidentPart& part) { return m_parts.contains(part); };
    const std::vector<ResidentLoad> loads = m_choice.added(program, held, m_session.structure);
    for (const ResidentLoad& load : loads) {
        const auto here = [&](std::int64_t bytes) { return sliceOf(bytes).end - sliceOf(bytes).first; };
        moved.h2d += here(load.copied.h2d + (resumes(load.part) ? load.bytes : 0));
        moved.structure += here(load.copied.structure);
    }
    TableUpload upload(m_session.device, m_session.stop, moved.h2d + moved.structure);
    if (!upload.pinned()) m_session.noteOnce(pageableCopies);
    for (const ResidentLoad& load : loads) m_parts[load.part] = make(load.part, upload);
    m_session.device.order(Lane::Upload, Lane::Compute);
    upload.finish();
    return moved;
}

Residents::Slice Residents::sliceOf(std::int64_t bytes) const
{
    if (m_session.peers.empty()) return {0, bytes};
    const auto cut = [&](std::size_t number) {
        return bytes * static_cast<std::int64_t>(number) / static_cast<std::int64_t>(m_session.gpus);
    };
    return {cut(m_session.number), cut(m_session.number + 1)};
}

at::Tensor Residents::copied(const ResidentPart& part, const at::Tensor& host, TableUpload& upload)
{
    const Slice slice = sliceOf(static_cast<std::int64_t>(host.nbytes()));
    if (!m_session.peers.empty()) m_loaded.emplace_back(part, slice);
    return upload.copy(host, slice.first, slice.end);
}

void Residents::sendLoaded()
{
    for (const auto& [part, slice] : std::exchange(m_loaded, {})) {
        const auto bytes = [&, s = slice](Residents& of) {
            return of.m_parts.at(part).view({-1}).view(at::kByte).narrow(0, s.first, s.end - s.first);
        };
        for (Session* const peer : m_session.peers)
            if (slice.end > slice.first) bytes(peer->residents).copy_(bytes(*this), /*non_blocking=*/true);
    }
    m_session.device.synchronize();
}

void Residents::send(ir::ValueId value, const std::vector<Destinations>& rows)
{
    const ResidentPart store{ResidentPart::Store, value};
    for (const Destinations& range : rows)
        for (Session* const peer : m_session.peers)
            peer->residents.part(store)
                .narrow(0, range.first, range.count)
                .copy_(part(store).narrow(0, range.first, range.count), /*non_blocking=*/true);
}

void Residents::drop(std::size_t stage, const std::vector<std::vector<LoopProgram>>& programs)
{
    std::erase_if(m_parts, [&](const auto& item) { return !m_choice.usedAfter(item.first, stage, programs); });
    const std::size_t unpinned =
        std::erase_if(m_pinned, [&](const auto& item) { return !m_choice.readAfter(item.first, stage, programs); });
    if (unpinned > 0) m_session.device.unpin();
}

// Leaves half of the host's free memory to others.
at::Tensor Residents::pinnedFor(ir::ValueId value)
{
    const bool input = m_session.analysis.program.value(value).origin == ir::Origin::Input;
    const std::int64_t bytes = wholeBytes(m_session.analysis, value, m_session.structure.sizes());
    const std::uint64_t pinned = std::bit_ceil(static_cast<std::uint64_t>(bytes + Store::bytesAhead));
    if (pinned > static_cast<std::uint64_t>(base::availableMemory()) / 2) return {};
    if (!input) return pinnedBytes(bytes + Store::bytesAhead);
    const at::Tensor host = m_session.inputTable(value).contiguous(), memory = pinnedBytes(bytes);
    if (!memory.defined()) return {};
    const graph::MappedSource source(host.const_data_ptr());
    auto* const to = static_cast<std::byte*>(memory.mutable_data_ptr());
    at::parallel_for(0, bytes, grain,
                     [&](std::int64_t first, std::int64_t last) { source.copy(first, last - first, to + first); });
    return memory.view(host.scalar_type()).view(host.sizes());
}

void Residents::pin(ir::ValueId value)
{
    const analysis::Analysis& a = m_session.analysis;
    const bool table = canDivide(a, value, m_session.storeType(), m_session.steady());
    const at::Tensor memory = table ? pinnedFor(value) : at::Tensor();
    if (memory.defined()) {
        m_pinned[value] = memory;
        return;
    }
    m_choice.leave(value);
    if (table)
        m_session.noteOnce("no pinned memory is available for " + analysis::nameOfValue(a, value) +
                           ": the host gathers its rows");
}

at::Tensor Residents::pinned(ir::ValueId value) const
{
    const auto known = m_pinned.find(value);
    return known == m_pinned.end() ? at::Tensor() : known->second;
}

// Returns whether an earlier process has written rows of a store. Those of other processes are read once all are
// finished.
bool Residents::resumes(const ResidentPart& part) const
{
    if (part.kind != ResidentPart::Store || m_session.others()) return false;
    const auto known = m_session.stores.find(part.value);
    return known != m_session.stores.end() && known->second->continued();
}

const at::Tensor& Residents::part(const ResidentPart& part) const
{
    const auto it = m_parts.find(m_choice.known(part));
    if (it == m_parts.end()) {
        const analysis::Analysis& a = m_session.analysis;
        const std::string what = part.value.valid() ? analysis::nameOfValue(a, part.value)
                                                    : "the index of the " + analysis::rowsLabel(a.tables, part.rows);
        raise(base::ErrorCode::Internal, what + " is used on the device before it is copied there");
    }
    return it->second;
}

const at::Tensor& Residents::table(ir::ValueId value)
{
    if (m_session.standIn) {
        at::Tensor& known = m_parts[{ResidentPart::Table, value}];
        if (!known.defined())
            known = m_session.standsIn(value) || m_choice.divides(value)
                        ? standIn(value)
                        : m_session.inputTable(value).to(m_session.device.device());
        return known;
    }
    const auto made = m_parts.find({ResidentPart::Store, value});
    return made != m_parts.end() ? made->second : part({ResidentPart::Table, value});
}

at::Tensor Residents::pinnedRows(ir::ValueId value) const
{
    const auto made = m_session.stores.find(value);
    return made != m_session.stores.end() ? made->second->tensor() : m_pinned.at(value);
}

DividedTable Residents::divided(ir::ValueId value)
{
    if (m_session.standIn) return {.cached = table(value), .places = {}, .host = {}};
    const ir::SpaceId rows = m_session.analysis.rowSpace(value);
    return {.cached = part({ResidentPart::Cached, value}),
            .places = part({.kind = ResidentPart::Places, .value = {}, .rows = {}, .space = rows}),
            .host = pinnedRows(value)};
}

at::Tensor Residents::make(const ResidentPart& part, TableUpload& upload)
{
    m_session.checkStop();
    if (part.kind == ResidentPart::Cached) return cached(part, upload);
    if (part.kind != ResidentPart::Store) return copied(part, onHost(part), upload);
    if (resumes(part)) return copied(part, rowsOf(part.value), upload);
    const auto type = loader::scalarType(m_session.analysis.program.value(part.value).dtype);
    return at::empty(shapeOf(m_session.analysis, part.value, m_session.structure.sizes()),
                     at::TensorOptions().dtype(type).device(m_session.device.device()));
}

at::Tensor Residents::onHost(const ResidentPart& part)
{
    switch (part.kind) {
    case ResidentPart::Owned: return ownedRows(part);
    case ResidentPart::Columns: return columns(part);
    case ResidentPart::Offsets: return offsets(part);
    case ResidentPart::Pieces: return pieces(part);
    case ResidentPart::Places: return places(part);
    default: return rowsOf(part.value);
    }
}

// All rows in the value's own type, which may be wider than that of its store.
at::Tensor Residents::rowsOf(ir::ValueId value)
{
    const auto type = loader::scalarType(m_session.analysis.program.value(value).dtype);
    return m_session.inputTable(value).contiguous().to(type);
}

at::Tensor Residents::standIn(ir::ValueId value)
{
    const auto type = loader::scalarType(m_session.analysis.program.value(value).dtype);
    std::vector<std::int64_t> row = shapeOf(m_session.analysis, value, m_session.structure.sizes());
    row[0] = 1;
    return at::zeros(row, at::TensorOptions().dtype(type).device(m_session.device.device()));
}

// Inputs lie in an order of their own; values that the prologue computes on edges are made in this one.
at::Tensor Residents::ownedRows(const ResidentPart& part)
{
    const analysis::Analysis& analysis = m_session.analysis;
    if (analysis.info(part.value).structureOnly && analysis.program.value(part.value).origin == ir::Origin::Op)
        return m_session.ownedValue(part.value, part.rows);
    const at::Tensor table = m_session.inputTable(part.value);
    const graph::Adjacency& adjacency = m_session.structure.adjacency(part.rows.table, part.rows.key);
    if (adjacency.inOrder()) return table.contiguous();
    at::Tensor order = at::empty({adjacency.rows()}, at::kLong);
    auto* const to = order.mutable_data_ptr<std::int64_t>();
    at::parallel_for(0, adjacency.rows(), grain, [&](std::int64_t first, std::int64_t last) {
        adjacency.eachRow(first, last, [to](std::int64_t p, std::int64_t row) { to[p] = row; });
    });
    return table.index_select(0, order);
}

at::Tensor Residents::columns(const ResidentPart& part)
{
    const OwnedColumn& column = m_session.structure.ownedColumn(part.space, part.rows.key, part.key);
    const std::int64_t count = m_session.structure.adjacency(part.rows.table, part.rows.key).rows();
    return at::from_blob(column.bytes.get(), {count}, at::TensorOptions().dtype(column.wide ? at::kLong : at::kInt));
}

at::Tensor Residents::offsets(const ResidentPart& part)
{
    const graph::Adjacency& adjacency = m_session.structure.adjacency(part.rows.table, part.rows.key);
    auto* const from = const_cast<std::int64_t*>(adjacency.offsets());
    return at::from_blob(from, {adjacency.targets() + 1}, at::kLong).to(numberType(adjacency.rows()));
}

at::Tensor Residents::pieces(const ResidentPart& part)
{
    const std::vector<kernels::HubPiece>& all = m_session.structure.hubPieces(part.rows.table, part.rows.key);
    const auto bytes = static_cast<std::int64_t>(all.size() * sizeof(kernels::HubPiece));
    return at::from_blob(const_cast<kernels::HubPiece*>(all.data()), {bytes}, at::kByte);
}

at::Tensor Residents::places(const ResidentPart& part)
{
    const std::vector<std::int32_t>& all =
        m_session.structure.useOrders.places(part.space, m_choice.gathersOf(part.space));
    return at::from_blob(const_cast<std::int32_t*>(all.data()), {std::ssize(all)}, at::kInt);
}

at::Tensor Residents::cached(const ResidentPart& part, TableUpload& upload)
{
    const ir::SpaceId space = m_session.analysis.rowSpace(part.value);
    const std::vector<std::int32_t>& all = m_session.structure.useOrders.places(space, m_choice.gathersOf(space));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(m_choice.cachedRows(part.value, m_session.structure)));
    for (std::size_t row = 0; row < all.size(); ++row)
        if (const auto place = static_cast<std::size_t>(all[row]); place < rows.size())
            rows[place] = static_cast<std::int64_t>(row);
    return upload.copyRows(pinnedRows(part.value), rows);
}

}  // namespace hopscope::executor

#include "executor/session/residents.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "executor/device/table_upload.h"
#include "executor/rows/row_numbers.h"
#include "executor/session/session.h"
#include "loader/tensors.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

namespace {

constexpr std::int64_t grain = 1 << 16;

// Whether the columns on a device have all rows that strips gather where they lie.
bool isSliced(const StripPart& part)
{
    return part.messages.kind == RowKind::Owned && std::ranges::all_of(part.tables, [](const StripTableSource& t) {
               return !t.inPlace() || executor::isSliced(t.place.messages, t.place.columnSpace, t.place.columnKey);
           });
}

}  // namespace

ResidentChoice::ResidentChoice(const analysis::Analysis& analysis, const plan::Plan& plan, const SameValues& same,
                               bool gpu, bool journal)
    : m_structure(gpu && plan.residentStructure),
      m_journal(journal),
      m_analysis(analysis),
      m_same(same)
{
    if (gpu) m_values.insert(plan.resident.begin(), plan.resident.end());
    for (const ir::NamedValue& o : analysis.program.outputs) m_outputs.insert(o.value);
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

// The values whose rows an instruction gathers where they lie.
std::vector<ir::ValueId> gatheredBy(const Instruction& i)
{
    if (i.act == Act::Pick) return {i.value};
    if (i.act == Act::Segment && i.segment.from < 0) return {i.segment.source};
    std::vector<ir::ValueId> values;
    if (i.act == Act::Strips)
        for (const StripTableSource& t : i.strips->tables)
            if (t.inPlace()) values.push_back(t.value);
    return values;
}

}  // namespace

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
        for (const ir::ValueId value : gatheredBy(i))
            if (const ir::ValueId table = program.tableOf(value); holds(table)) add({ResidentPart::Table, table});
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
            known =
                m_session.standsIn(value) ? standIn(value) : m_session.inputTable(value).to(m_session.device.device());
        return known;
    }
    const auto made = m_parts.find({ResidentPart::Store, value});
    return made != m_parts.end() ? made->second : part({ResidentPart::Table, value});
}

at::Tensor Residents::make(const ResidentPart& part, TableUpload& upload)
{
    m_session.checkStop();
    if (part.kind != ResidentPart::Store) return copied(part, onHost(part), upload);
    if (resumes(part)) return copied(part, m_session.inputTable(part.value).contiguous(), upload);
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
    default: return m_session.inputTable(part.value).contiguous();
    }
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

}  // namespace hopscope::executor

#include "executor/batch.h"

#include <algorithm>
#include <set>

#include <ATen/Parallel.h>

#include "executor/segment_run.h"
#include "kernels/segment.h"
#include "loader/torch_model.h"

namespace hopscope::executor {

using ir::RowClass;
using ir::RowKind;

Batch::Batch(Session& session, const LoopProgram& program, Block& block)
    : m_session(session),
      m_program(program),
      m_block(block),
      m_registers(program.registers.size()),
      m_owned(program.registers.size(), false)
{}

template <class F>
auto Batch::timed(Phase phase, F&& work)
{
    const auto p = static_cast<std::size_t>(phase);
    const double began = steadySeconds();
    if (m_cost.seconds[p] == 0) m_cost.starts[p] = m_session.seconds();
    auto result = work();
    m_cost.seconds[p] += steadySeconds() - began;
    return result;
}

void Batch::compute()
{
    for (const Instruction& i : m_program.instructions) {
        run(i);
        for (Register r : i.dead) reg(r) = at::Tensor();
    }
    contributions();
}

void Batch::clear()
{
    for (at::Tensor& t : m_registers) t = at::Tensor();
    m_contributions.clear();
    m_cost = {};
}

void Batch::run(const Instruction& i)
{
    switch (i.act) {
    case Act::Read: return read(i);
    case Act::Narrow: {
        const int d = m_session.analysis.rowDim(i.value);
        reg(i.outputs[0]) = reg(i.input).narrow(d, 0, m_block.count(i.rows));
        return;
    }
    case Act::Positions: {
        const at::Tensor host = timed(Phase::Block, [&] { return m_block.positions(i.rows, i.space, i.key, i.in); });
        reg(i.outputs[0]) = timed(Phase::HostToDevice, [&] { return m_session.device.upload(host); });
        return;
    }
    case Act::Call: return call(i);
    case Act::Select: return select(i);
    case Act::Concat: return concat(i);
    case Act::Segment: return segment(i);
    }
}

// ---- rows from tables

void Batch::countRead(ir::ValueId value, std::int64_t bytes)
{
    if (m_session.analysis.info(value).structureOnly) m_cost.structureBytes += bytes;
    else m_cost.readBytes += bytes;
}

namespace {

constexpr std::int64_t gatherGrain = 1 << 11;

// Rows of a table whose elements follow each other, by the prefetching kernel; else by LibTorch.
at::Tensor pick(const DeviceContext& device, const at::Tensor& table, std::int64_t dim, const at::Tensor& rows)
{
    std::vector<std::int64_t> shape = table.sizes().vec();
    shape[static_cast<std::size_t>(dim)] = rows.numel();
    at::Tensor out = device.hostBuffer(shape, table.scalar_type());
    const bool dense = dim == 0 && table.size(0) > 0 && table.select(0, 0).is_contiguous();
    if (!dense) {
        at::index_select_out(out, table, dim, rows);
        return out;
    }
    const auto rowBytes = static_cast<std::int64_t>(table.element_size()) * table.select(0, 0).numel();
    const auto* from = static_cast<const std::byte*>(table.const_data_ptr());
    auto* to = static_cast<std::byte*>(out.mutable_data_ptr());
    const std::int64_t stride = table.stride(0) * static_cast<std::int64_t>(table.element_size());
    const std::int64_t* numbers = rows.const_data_ptr<std::int64_t>();
    at::parallel_for(0, rows.numel(), gatherGrain, [&](std::int64_t first, std::int64_t last) {
        kernels::gatherRowsCpu(from, stride, numbers, to, rowBytes, first, last);
    });
    return out;
}

}  // namespace

at::Tensor Batch::gatherRows(ir::ValueId value, const RowClass& rows)
{
    const at::Tensor table = m_session.table(value);
    const std::int64_t dim = m_session.analysis.rowDim(value);
    const Destinations& batch = m_block.destinations();
    if (rows.kind == RowKind::Batch && batch.ascending()) {
        const at::Tensor range = table.narrow(dim, batch.first, batch.count);
        if (!m_session.device.cuda()) return range;
        at::Tensor staged = m_session.device.hostBuffer(range.sizes(), range.scalar_type());
        return staged.copy_(range);
    }
    const at::Tensor numbers = timed(Phase::Block, [&] { return m_block.rows(rows); });
    return timed(Phase::Gather, [&] { return pick(m_session.device, table, dim, numbers); });
}

void Batch::read(const Instruction& i)
{
    const at::Tensor host = gatherRows(i.value, i.rows);
    countRead(i.value, host.numel() * static_cast<std::int64_t>(host.element_size()));
    reg(i.outputs[0]) = timed(Phase::HostToDevice, [&] { return m_session.device.upload(host); });
    check(i, i.value, reg(i.outputs[0]));
}

// ---- operands

std::optional<std::int64_t> Batch::localSize(const Instruction& i, ir::SpaceId space)
{
    if (m_session.analysis.tables.space(space).kind == analysis::SpaceKind::Graph)
        return m_session.structure.size(space);
    if (analysis::tableOf(i.rows) == space) return m_block.count(i.rows);
    for (const Operand& o : i.operands)
        if (analysis::tableOf(o.rows) == space) return m_block.count(o.rows);
    return std::nullopt;
}

std::int64_t Batch::requiredSize(const Instruction& i, ir::SpaceId space)
{
    const auto size = localSize(i, space);
    const analysis::Analysis& a = m_session.analysis;
    if (!size)
        raise(base::ErrorCode::Internal,
              "the size of " + a.tables.spaceName(space) + " is used on rows of " + a.tables.className(i.rows), {},
              ir::describeOp(a.program.op(i.op)));
    return *size;
}

// Local row numbers in the shape of the index: one number per row, repeated along the other dimensions.
at::Tensor Batch::shapedIndex(const Instruction& i, const Operand& o)
{
    const at::Tensor& numbers = reg(o.from);
    const auto& shape = m_session.analysis.program.value(o.value).shape;
    if (shape.size() == 1) return numbers;
    const auto full = shapeOf(m_session.analysis, o.value, [&](ir::SpaceId s) { return requiredSize(i, s); });
    std::vector<std::int64_t> column(shape.size(), 1);
    column[static_cast<std::size_t>(m_session.analysis.rowDim(o.value))] = numbers.numel();
    return numbers.view(column).expand(full);
}

at::Tensor Batch::dummy(const Instruction& i, const Operand& o)
{
    const auto dtype = loader::scalarType(m_session.analysis.program.value(o.value).dtype);
    const at::Tensor scalar = at::zeros({}, at::TensorOptions().dtype(dtype).device(m_session.device.device()));
    for (ir::SpaceId s : m_session.analysis.info(o.value).dims)
        if (s.valid() && !localSize(i, s)) return scalar;
    return scalar.expand(shapeOf(m_session.analysis, o.value, [&](ir::SpaceId s) { return requiredSize(i, s); }));
}

at::Tensor Batch::operand(const Instruction& i, const Operand& o)
{
    switch (o.kind) {
    case Operand::InRegister: return reg(o.from);
    case Operand::Whole: return m_session.whole(o.value);
    case Operand::Index: return shapedIndex(i, o);
    case Operand::Dummy: return dummy(i, o);
    }
    return {};
}

CallContext Batch::context(const Instruction& i)
{
    CallContext c;
    c.device = m_session.device.device();
    c.globalSizes = m_session.structure.sizes();
    c.localSizes = [this, &i](ir::SpaceId s) { return requiredSize(i, s); };
    c.operand = [this, &i](ir::Slot slot, ir::ValueId) {
        const auto it =
            std::find_if(i.operands.begin(), i.operands.end(), [&](const Operand& o) { return o.slot == slot; });
        require(it != i.operands.end(), "an operand was not bound");
        return operand(i, *it);
    };
    return c;
}

// ---- operators

// A result has the rows of its class, and every labelled dimension the size of its table.
void Batch::check(const Instruction& i, ir::ValueId value, const at::Tensor& result)
{
    const auto& dims = m_session.analysis.info(value).dims;
    if (m_session.analysis.info(value).sparse) return;
    const auto wrong = [&](std::size_t d) {
        const ir::Value& v = m_session.analysis.program.value(value);
        raise(base::ErrorCode::Internal,
              "dimension " + std::to_string(d) + " of " + ir::valueName(value) + " does not have the rows of " +
                  m_session.analysis.tables.className(i.rows),
              {}, v.producer.valid() ? ir::describeOp(m_session.analysis.program.op(v.producer)) : v.name);
    };
    if (result.dim() != static_cast<std::int64_t>(dims.size())) wrong(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (!dims[d].valid()) continue;
        const auto wanted = localSize(i, dims[d]);
        if (wanted && result.size(static_cast<std::int64_t>(d)) != *wanted) wrong(d);
    }
}

namespace {

using Unary = at::Tensor& (*)(at::Tensor&);

Unary inPlaceOf(const std::string& name)
{
    if (name == "aten::relu") return [](at::Tensor& t) -> at::Tensor& { return at::relu_(t); };
    if (name == "aten::exp") return [](at::Tensor& t) -> at::Tensor& { return at::exp_(t); };
    if (name == "aten::sigmoid") return [](at::Tensor& t) -> at::Tensor& { return at::sigmoid_(t); };
    if (name == "aten::tanh") return [](at::Tensor& t) -> at::Tensor& { return at::tanh_(t); };
    return nullptr;
}

}  // namespace

// Element-wise operators write over an operand that dies here, if nothing else sees its memory.
bool Batch::reuse(const Instruction& i)
{
    if (i.operands.empty() || i.operands[0].kind != Operand::InRegister || i.outputs.size() != 1) return false;
    const Register from = i.operands[0].from;
    const Unary inPlace = inPlaceOf(m_session.analysis.program.op(i.op).name);
    if (!inPlace || !m_owned[static_cast<std::size_t>(from)]) return false;
    if (std::find(i.dead.begin(), i.dead.end(), from) == i.dead.end()) return false;
    at::Tensor& t = reg(from);
    if (!t.is_floating_point() || t.use_count() != 1 || t.storage().use_count() != 1 ||
        !t.is_non_overlapping_and_dense())
        return false;
    reg(i.outputs[0]) = inPlace(t);
    return true;
}

void Batch::call(const Instruction& i)
{
    const ir::Op& op = m_session.analysis.program.op(i.op);
    const std::vector<at::Tensor> results = timed(Phase::Compute, [&] {
        if (reuse(i)) return std::vector<at::Tensor>{reg(i.outputs[0])};
        return m_session.caller.call(op, context(i));
    });
    for (std::size_t k = 0; k < results.size(); ++k) {
        check(i, op.outputs[k], results[k]);
        reg(i.outputs[k]) = results[k];
        const bool fresh = !m_session.analysis.info(i.op).view;
        m_owned[static_cast<std::size_t>(i.outputs[k])] = fresh;
    }
}

void Batch::select(const Instruction& i)
{
    const Operand& parent = i.operands.at(0);
    const at::Tensor host = timed(Phase::Block, [&] { return m_block.parentPositions(i.rows, parent.rows); });
    const at::Tensor order = timed(Phase::HostToDevice, [&] { return m_session.device.upload(host); });
    reg(i.outputs[0]) = timed(
        Phase::Compute, [&] { return reg(parent.from).index_select(m_session.analysis.rowDim(parent.value), order); });
    check(i, m_session.analysis.program.op(i.op).outputs[0], reg(i.outputs[0]));
}

void Batch::concat(const Instruction& i)
{
    std::vector<at::Tensor> tensors;
    std::vector<RowClass> parts;
    for (const Operand& o : i.operands) {
        tensors.push_back(reg(o.from));
        parts.push_back(o.rows);
    }
    const at::Tensor host = timed(Phase::Block, [&] { return m_block.concatPositions(i.rows, parts); });
    const at::Tensor order = timed(Phase::HostToDevice, [&] { return m_session.device.upload(host); });
    const ir::ValueId out = m_session.analysis.program.op(i.op).outputs[0];
    const int dim = m_session.analysis.rowDim(out);
    reg(i.outputs[0]) = timed(Phase::Compute, [&] { return at::cat(tensors, dim).index_select(dim, order); });
    check(i, out, reg(i.outputs[0]));
}

void Batch::segment(const Instruction& i)
{
    const Segment& s = i.segment;
    DeviceContext& device = m_session.device;
    SegmentInputs in;
    const bool inPlace = s.from < 0;
    in.source = inPlace ? m_session.table(s.source) : reg(s.from);
    const at::Tensor offsets = timed(Phase::Block, [&] { return m_block.offsets(s.messages); });
    in.offsets = device.upload(offsets);
    if (s.columns >= 0) in.columns = reg(s.columns);
    if (inPlace) {
        in.columns = timed(Phase::Block, [&] { return m_block.globals(s.messages, s.columnSpace, s.columnKey); });
        const std::int64_t frontier = timed(Phase::Block, [&] { return m_block.count(s.sourceRows); });
        countRead(s.source, frontier * in.source.stride(0) * static_cast<std::int64_t>(in.source.element_size()));
    }
    if (s.weight >= 0) in.weight = reg(s.weight);
    in.stream = device.computeStream();
    at::Tensor out = timed(Phase::Compute, [&] { return runSegment(s, in); });
    if (!i.operands.empty())
        out = m_session.caller.addScaled(m_session.analysis.program.op(i.op), operand(i, i.operands[0]), out);
    check(i, m_session.analysis.program.op(i.op).outputs[0], out);
    reg(i.outputs[0]) = out;
    m_owned[static_cast<std::size_t>(i.outputs[0])] = true;
}

// ---- results

void Batch::contributions()
{
    for (const Reduced& r : m_program.reductions) {
        Instruction i;
        i.op = r.op;
        i.rows = r.rows;
        i.operands = r.operands;
        Reducer& reducer = m_session.reducers.try_emplace(r.op, m_session.analysis, r.op).first->second;
        m_contributions.emplace_back(r.op, timed(Phase::Compute, [&] {
                                         return reducer.contribute(m_session.caller, context(i), m_block.count(r.rows));
                                     }));
    }
}

void Batch::merge()
{
    for (auto& [op, contribution] : m_contributions) m_session.reducers.at(op).merge(std::move(contribution));
    m_contributions.clear();
}

void Batch::commit()
{
    merge();
    for (const Written& w : m_program.writes) write(w);
}

void Batch::write(const Written& w)
{
    Store& store = m_session.createStore(w.value);
    const at::Tensor host = timed(Phase::DeviceToHost, [&] {
        at::Tensor t = m_session.device.download(reg(w.from));
        m_session.device.finishDownloads();
        return t;
    });
    m_cost.writtenBytes += host.numel() * static_cast<std::int64_t>(host.element_size());
    const Destinations& batch = m_block.destinations();
    timed(Phase::Write, [&] {
        if (w.rows.kind == RowKind::Batch && batch.ascending()) store.writeRange(batch.first, host);
        else store.write(m_block.rows(w.rows), host);
        return 0;
    });
}

}  // namespace hopscope::executor

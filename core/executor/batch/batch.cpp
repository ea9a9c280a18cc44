#include "executor/batch/batch.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "analysis/stored.h"
#include "executor/batch/row_dots_run.h"
#include "executor/batch/segment_run.h"
#include "executor/batch/show_results.h"
#include "executor/program/overwrite.h"
#include "loader/tensors.h"
#include "operators/operators.h"

namespace hopscope::executor {

namespace {

[[noreturn]] void raiseWrongSize(const analysis::Analysis& a, const Instruction& i, ir::ValueId value, std::size_t d)
{
    raise(base::ErrorCode::Internal,
          "dimension " + std::to_string(d) + " of " + analysis::nameOfValue(a, value) + " does not match the " +
              analysis::rowsLabel(a.tables, i.rows),
          {}, analysis::placeOfValue(a, value));
}

}  // namespace

Batch::Batch(Session& session, const LoopProgram& program, Block& block, const Window* window)
    : m_session(session),
      m_program(program),
      m_block(block),
      m_feed(session, program, block, window),
      m_residents(session, program, block),
      m_registers(program.registers.size()),
      m_owned(program.registers.size(), false),
      m_results(session, program, block, m_feed),
      m_costs(program, !session.device.gpu())
{}

// Operators on a GPU are only queued here: events measure them.
template <class Work>
auto Batch::timed(Phase phase, Work&& work)
{
    if (m_session.device.gpu()) return work();
    return m_times.time(phase, m_session.began(), std::forward<Work>(work));
}

// ---- in steps

void Batch::stage(StagingChunk& chunk)
{
    m_given = m_feed.stage([&](const HostRows& rows) {
        const at::Tensor out = chunk.take(rows.shape, rows.dtype);
        if (out.numel() > 0) m_feed.write(rows, 0, rows.count, static_cast<std::byte*>(out.mutable_data_ptr()));
        return out;
    });
}

std::vector<HostRows> Batch::list()
{
    std::vector<HostRows> all;
    m_given = m_feed.stage([&](HostRows rows) {
        const bool empty = rows.bytes() == 0;
        const auto options = at::TensorOptions().dtype(rows.dtype).device(empty ? at::kCPU : at::kMeta);
        const at::Tensor place = at::empty(rows.shape, options);
        if (empty) return place;
        all.push_back(std::move(rows));
        return m_listed.emplace_back(place);
    });
    return all;
}

void Batch::arrived(const std::vector<at::Tensor>& there)
{
    for (Given& given : m_given)
        given.each([&](at::Tensor& t) {
            if (!t.defined() || !t.is_meta()) return;
            const auto place = std::ranges::find_if(m_listed, [&](const at::Tensor& l) { return l.is_same(t); });
            t = there.at(static_cast<std::size_t>(place - m_listed.begin()));
        });
    m_listed.clear();
}

void Batch::uploadStructure()
{
    for (const Instruction& i : m_program.instructions) {
        if (!m_session.choice.skips(i)) continue;
        m_given[static_cast<std::size_t>(&i - m_program.instructions.data())].each([this](at::Tensor& t) {
            if (t.defined()) t = m_session.device.upload(t);
        });
    }
}

// Data that several instructions share is uploaded once.
void Batch::upload()
{
    std::map<const void*, at::Tensor> there;
    const auto move = [&](at::Tensor& t) {
        if (!t.defined() || !t.is_cpu()) return;
        at::Tensor& found = there[t.const_data_ptr()];
        if (!found.defined() || t.numel() == 0) found = m_session.device.upload(t);
        t = found;
    };
    for (Given& given : m_given) given.each(move);
}

void Batch::compute()
{
    for (const Instruction& i : m_program.instructions) {
        const auto bytes = [&] {
            std::int64_t sum = 0;
            for (const Register r : i.outputs) sum += static_cast<std::int64_t>(reg(r).nbytes());
            return sum;
        };
        m_costs.measure(
            static_cast<std::size_t>(&i - m_program.instructions.data()), [&] { run(i); }, bytes);
        if (m_session.options.probe) showResults(m_session, m_program, m_block, i, m_registers);
        for (Register r : i.dead) reg(r) = at::Tensor();
    }
    contributions();
    m_results.make(m_registers);
}

void Batch::clear()
{
    letGo();
    m_contributions.clear();
    m_results.clear();
    m_given.clear();
    m_listed.clear();
    m_feed.clear();
    m_times = {};
    m_costs.clear();
}

PhaseTimes Batch::times() const
{
    PhaseTimes all = m_feed.times();
    all.add(m_times);
    all.add(m_results.times());
    return all;
}

void Batch::run(const Instruction& i)
{
    switch (i.act) {
    case Act::Read: return read(i);
    case Act::Pick: return pick(i);
    case Act::Narrow:
        reg(i.outputs[0]) = reg(i.input).narrow(m_session.analysis.rowDim(i.value), 0, m_block.count(i.rows));
        return;
    case Act::Positions: return positions(i);
    case Act::RowDots:
    case Act::Call: return call(i);
    case Act::Select: return select(i);
    case Act::Concat: return concat(i);
    case Act::Segment: return segment(i);
    case Act::Strips: return segment(i, *i.strips);
    }
}

// Uploaded data is released as it is used.
Given Batch::given(const Instruction& i)
{
    if (m_given.empty()) return m_feed.give(i);
    return std::exchange(m_given[static_cast<std::size_t>(&i - m_program.instructions.data())], {});
}

void Batch::read(const Instruction& i)
{
    const at::Tensor from = given(i).rows;
    if (m_session.standsIn(i.value) && m_feed.picksThere(i)) from.zero_();
    if (m_feed.skips(i)) reg(i.outputs[0]) = m_residents.rows(i);
    else if (m_feed.picksThere(i)) reg(i.outputs[0]) = m_session.residents.table(i.value).index_select(0, from);
    else reg(i.outputs[0]) = from;
    if (m_session.device.gpu())  // a store may have a narrower type
        reg(i.outputs[0]) = reg(i.outputs[0]).to(loader::scalarType(m_session.analysis.program.value(i.value).dtype));
    check(i, i.value, reg(i.outputs[0]));
}

void Batch::pick(const Instruction& i)
{
    at::Tensor rows = given(i).rows;
    if (m_session.device.gpu()) rows = m_residents.picked(i, m_feed.skips(i) ? at::Tensor() : rows);
    reg(i.outputs[0]) = std::move(rows);
    check(i, m_session.analysis.program.op(i.op).outputs[0], reg(i.outputs[0]));
}

// Most operators take row numbers of 64 bits only.
void Batch::positions(const Instruction& i)
{
    const Given from = given(i);
    at::Tensor numbers = from.rows;
    if (i.owners)
        numbers = ownersOf(m_feed.skips(i) ? m_residents.offsets(i.rows) : from.offsets, m_block.count(i.rows));
    if (i.wide && numbers.scalar_type() != at::kLong) numbers = numbers.to(at::kLong);
    reg(i.outputs[0]) = std::move(numbers);
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
              "the size of " + analysis::tableLabel(a.tables, space) + " is used on " +
                  analysis::rowsLabel(a.tables, i.rows),
              {}, ir::describeOp(a.program.op(i.op)));
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
    const analysis::Analysis& a = m_session.analysis;
    const auto& dims = a.info(value).dims;
    if (a.info(value).sparse) return;
    if (result.dim() != std::ssize(dims)) raiseWrongSize(a, i, value, dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (!dims[d].valid()) continue;
        const auto wanted = localSize(i, dims[d]);
        if (wanted && result.size(static_cast<std::int64_t>(d)) != *wanted) raiseWrongSize(a, i, value, d);
    }
}

// Element-wise operators write over an operand that dies here, if nothing else sees its memory: it is in the caches.
bool Batch::reuse(const Instruction& i)
{
    if (i.operands.empty() || i.operands[0].kind != Operand::InRegister || i.outputs.size() != 1) return false;
    const Register from = i.operands[0].from;
    const ir::Op& op = m_session.analysis.program.op(i.op);
    if (!operators::of(op.name).traits.overwrites || !m_owned[static_cast<std::size_t>(from)]) return false;
    if (std::find(i.dead.begin(), i.dead.end(), from) == i.dead.end()) return false;
    const bool pair = isPlainPair(op, i) && !m_session.device.gpu();
    if (!pair && op.args.size() != 1) return false;
    if (!overwrite(op, reg(from), pair ? operand(i, i.operands[1]) : at::Tensor())) return false;
    reg(i.outputs[0]) = reg(from);
    return true;
}

void Batch::call(const Instruction& i)
{
    const ir::Op& op = m_session.analysis.program.op(i.op);
    const std::vector<at::Tensor> results = timed(Phase::Compute, [&] {
        if (i.act == Act::RowDots)
            return std::vector{runRowDots(i, m_session.analysis, operand(i, i.operands.at(0)),
                                          operand(i, i.operands.at(1)), m_block.count(i.rows),
                                          m_program.tiling.has_value())};
        if (reuse(i)) return std::vector<at::Tensor>{reg(i.outputs[0])};
        return m_session.caller.call(op, context(i));
    });
    for (std::size_t k = 0; k < results.size(); ++k) {
        check(i, op.outputs[k], results[k]);
        reg(i.outputs[k]) = results[k];
        m_owned[static_cast<std::size_t>(i.outputs[k])] = !m_session.analysis.info(i.op).view;
    }
}

void Batch::select(const Instruction& i)
{
    const Operand& parent = i.operands.at(0);
    const at::Tensor order = given(i).rows;
    reg(i.outputs[0]) = timed(
        Phase::Compute, [&] { return reg(parent.from).index_select(m_session.analysis.rowDim(parent.value), order); });
    check(i, m_session.analysis.program.op(i.op).outputs[0], reg(i.outputs[0]));
}

void Batch::concat(const Instruction& i)
{
    std::vector<at::Tensor> tensors;
    for (const Operand& o : i.operands) tensors.push_back(reg(o.from));
    const at::Tensor order = given(i).rows;
    const ir::ValueId out = m_session.analysis.program.op(i.op).outputs[0];
    const int dim = m_session.analysis.rowDim(out);
    reg(i.outputs[0]) = timed(Phase::Compute, [&] { return at::cat(tensors, dim).index_select(dim, order); });
    check(i, out, reg(i.outputs[0]));
}

void Batch::segment(const Instruction& i)
{
    const Segment& s = i.segment;
    const Given from = given(i);
    SegmentInputs in;
    if (s.from >= 0) in.source = reg(s.from);
    else if (m_session.device.gpu()) m_residents.giveSource(s.source, in);
    else in.source = m_feed.inPlace(s.source);
    in.computed = loader::scalarType(m_session.analysis.program.value(s.source).dtype);
    in.columns = s.from < 0 ? from.rows : s.columns >= 0 ? reg(s.columns) : at::Tensor();
    in.offsets = from.offsets;
    in.pieces = from.pieces;
    in.first = from.first;
    in.count = from.count;
    if (m_feed.skips(i)) m_residents.give(s, in);
    if (m_session.standIn && m_session.device.gpu() && s.from < 0) in.columns.zero_();
    if (s.weight >= 0) in.weight = reg(s.weight);
    at::Tensor out = timed(Phase::Compute, [&] { return runSegment(s, in, m_session); });
    if (!i.operands.empty())
        out = m_session.caller.addScaled(m_session.analysis.program.op(i.op), operand(i, i.operands[0]), out);
    check(i, m_session.analysis.program.op(i.op).outputs[0], out);
    reg(i.outputs[0]) = out;
    m_owned[static_cast<std::size_t>(i.outputs[0])] = true;
}

void Batch::segment(const Instruction& i, const StripPart& part)
{
    StripInputs in{.part = part, .tables = {}, .columns = {}, .offsets = {}, .alone = m_program.tiling.has_value()};
    give(i, part, in);
    const std::vector<at::Tensor> results = timed(Phase::Compute, [&] { return runStrips(in, m_session); });
    for (std::size_t k = 0; k < results.size(); ++k) {
        check(i, part.outputs[k].first, results[k]);
        reg(i.outputs[k]) = results[k];
        m_owned[static_cast<std::size_t>(i.outputs[k])] = true;
    }
}

void Batch::give(const Instruction& i, const StripPart& part, StripInputs& in)
{
    const bool gpu = m_session.device.gpu();
    const Given from = given(i);
    in.offsets = from.offsets;
    in.pieces = from.pieces;
    in.columns = from.columns;
    in.columns.resize(part.tables.size());
    in.tables.resize(part.tables.size());
    if (gpu) in.messages = m_block.count(part.messages);
    if (m_feed.skips(i)) m_residents.give(part, in);
    for (std::size_t k = 0; k < part.tables.size(); ++k) {
        const StripTableSource& t = part.tables[k];
        if (!t.value.valid()) continue;
        if (!t.inPlace()) {
            const auto at = static_cast<std::size_t>(t.operand);
            in.tables[k] = operand(i, i.operands[at]);
            if (t.rows == kernels::StripRows::Gathered) in.columns[k] = reg(i.operands[at + 1].from);
        } else if (gpu) {
            m_residents.giveSource(t.value, in, k);
            if (m_session.standIn) in.columns[k].zero_();
        } else {
            const Given given = m_feed.along(t.place);
            in.tables[k] = m_feed.inPlace(t.value);
            in.columns[k] = given.count < 0 ? given.rows : given.rows.narrow(0, given.first, given.count);
            if (!in.offsets.defined()) in.offsets = given.offsets;
        }
    }
    if (!in.offsets.defined()) in.offsets = timed(Phase::Block, [&] { return m_block.offsets(part.messages); });
}

// ---- results

void Batch::letGo()
{
    for (at::Tensor& t : m_registers) t = at::Tensor();
}

void Batch::collect(StagingChunk& chunk)
{
    m_results.download(chunk);
    if (!m_session.steady()) return;
    for (auto& [op, contribution] : m_contributions)
        for (at::Tensor* const t : {&contribution.value, &contribution.spread})
            if (t->defined()) *t = m_results.downloaded(*t, chunk);
}

void Batch::contributions()
{
    for (const Reduced& r : m_program.reductions) {
        Instruction i;
        i.op = r.op;
        i.rows = r.rows;
        i.operands = r.operands;
        const Reducer& reducer = m_session.reducer(r.op);
        const auto number = static_cast<std::size_t>(&r - m_program.reductions.data());
        const auto contribute = [&] { return reducer.contribute(m_session.caller, context(i), m_block.count(r.rows)); };
        m_costs.measure(
            m_program.instructions.size() + number,
            [&] { m_contributions.emplace_back(r.op, timed(Phase::Compute, contribute)); },
            [] { return std::int64_t{0}; });
    }
}

void mergeInto(Session& session, const Contributions& contributions)
{
    if (session.others()) {
        session.apart = contributions;
        return;
    }
    mergeTotals(session, contributions);
}

void mergeTotals(Session& session, const Contributions& contributions)
{
    std::vector<Contribution> merged;
    for (const auto& [op, contribution] : contributions) merged.push_back(session.reducers.at(op).merged(contribution));
    for (std::size_t k = 0; k < merged.size(); ++k)
        session.reducers.at(contributions[k].first).replace(std::move(merged[k]));
}

}  // namespace hopscope::executor

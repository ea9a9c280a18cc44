#include "executor/forecast/timing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "analysis/rows/classes.h"
#include "executor/calls/dense_shape.h"
#include "executor/calls/number.h"
#include "executor/program/strips.h"
#include "executor/rows/block.h"
#include "operators/operators.h"

namespace hopscope::forecast {

using executor::Act;
using executor::Instruction;
using executor::Operand;
using executor::Register;
using ir::RowClass;
using ir::RowKind;
using plan::Wall;
using plan::WallKind;

namespace {

constexpr double numberBytes = 8;
constexpr double floatBytes = 4;
constexpr double largeTensor = 1e9;  // bytes, beyond all caches

// The time of an operator of a strip relative to one that only reads and writes its elements: series and divisions,
// measured with AVX-512.
double effort(kernels::StripOp op)
{
    using kernels::StripOp;
    switch (op) {
    case StripOp::Exp: return 4;
    case StripOp::Sigmoid:
    case StripOp::Silu: return 5;
    case StripOp::Tanh: return 6;
    case StripOp::Softplus: return 8;
    default: return 1;
    }
}

// The work of one instruction.
struct Work {
    double gemm = 0, rows = 0;  // seconds
    double near = 0, far = 0;   // bytes of temporaries, and of tables
    double numbers = 0;         // of a block
    double stored = 0;          // bytes
};

class Stopwatch {
public:
    Stopwatch(const analysis::Analysis& analysis, executor::Structure& structure, const LoopRun& run,
              const WallTable& walls, ReuseOfColumns& reuse)
        : m_analysis(analysis),
          m_structure(structure),
          m_run(run),
          m_program(run.program),
          m_walls(walls),
          m_reuse(reuse)
    {}

    Timing run()
    {
        for (const Instruction& i : m_program.instructions) enter(work(i));
        for (const executor::Written& w : m_program.writes) enter(write(w));
        for (const executor::Reduced& r : m_program.reductions) enter(reduction(r));
        const plan::Machine& machine = m_walls.machine();
        const double calls = static_cast<double>(m_program.instructions.size() + m_program.writes.size());
        m_timing.seconds += m_run.batches / m_run.workers * (calls * machine.call + machine.batch);
        m_timing.seconds *= machine.slowness;
        return m_timing;
    }

private:
    void enter(const Work& w)
    {
        const plan::Machine& machine = m_walls.machine();
        const double stream = m_walls.stream(largeTensor), temporaries = temporaryRate(w.near);
        const double stored = w.stored / m_walls.rate(WallKind::Stores, machine.write);
        m_timing.seconds += w.gemm + w.rows + w.near / temporaries + w.far / stream + stored +
                            numberBytes * w.numbers / machine.structure;
        const double table = w.far / stream + stored, memory = w.rows + table;
        if (w.gemm >= memory) {
            m_timing.at(Wall::Gemm) += w.gemm;
        } else {
            m_timing.at(Wall::Rows) += w.rows;
            m_timing.at(Wall::Stream) += table;
        }
    }

    // Results of tiles stay in the caches; those of large batches take new memory each time.
    [[nodiscard]] double temporaryRate(double all) const
    {
        const double bytes = all / std::max(m_run.batches, 1.0) / 2;  // of a tensor
        const double fresh = m_walls.rate(WallKind::Fresh, m_walls.machine().elementwise);
        return m_program.tiling ? m_walls.stream(bytes) : fresh;
    }

    Work work(const Instruction& i)
    {
        switch (i.act) {
        case Act::Read: return read(i);
        case Act::Narrow: return {};
        case Act::Positions: return positions(i);
        case Act::Pick: return pick(i);
        case Act::Segment: return segment(i);
        case Act::Strips: return strips(i);
        case Act::Select:
        case Act::Concat: return copied(i);
        case Act::RowDots:
        case Act::Call: return call(i);
        }
        return {};
    }

    // The batch's own rows are used where they lie: the first instruction that uses them fetches them.
    Work read(const Instruction& i)
    {
        if (i.rows.kind == RowKind::Batch && i.rows.table == m_program.loop->destination) {
            m_tables.insert(i.outputs.at(0));
            return {};
        }
        const double width = rowBytes(i.value), count = m_run.rows(i.rows);
        return {.rows = count * randomRow(WallKind::Rows, width, tableOf(i.rows)), .near = count * width};
    }

    Work positions(const Instruction& i) const
    {
        const bool own = i.in.kind == RowKind::Batch && i.in.table == m_program.loop->destination;
        const double count = m_run.rows(i.rows);
        if (own) return {.near = numberBytes * count};
        return {.numbers = count};
    }

    Work pick(const Instruction& i)
    {
        const double width = rowBytes(i.value), count = m_run.rows(i.rows);
        const double seconds = columnRow(WallKind::Rows, width, i.rows, i.space, i.key);
        return {.rows = count * seconds, .near = count * width};
    }

    Work segment(const Instruction& i)
    {
        const executor::Segment& s = i.segment;
        const double messages = m_run.rows(s.messages), width = rowBytes(s.source);
        Work work{.near = result(i)};
        if (s.weightValue.valid()) work.near += messages * rowBytes(s.weightValue);
        for (const Operand& o : i.operands) work.near += bytes(o);
        if (s.from >= 0 && s.columns < 0) work.near += messages * width;
        else work.rows = gathered(s, width);
        return work;
    }

    // The seconds to gather rows of the frontier, or of a table in place.
    double gathered(const executor::Segment& s, double width)
    {
        const double messages = m_run.rows(s.messages);
        if (s.from < 0) return messages * columnRow(WallKind::Segments, width, s.messages, s.columnSpace, s.columnKey);
        return messages * randomRow(WallKind::Segments, width, m_run.rows(s.sourceRows) / m_run.batches);
    }

    // Each step writes its rows, in the caches, and the next one reads them. A GPU has them in shared memory.
    Work strips(const Instruction& i)
    {
        const executor::StripPart& part = *i.strips;
        const double edges = m_run.rows(part.messages), destinations = m_run.rows(i.rows);
        const double item = part.program.element == kernels::StripElement::Float64 ? 8 : 4;
        Work work{.near = result(i)};
        for (const kernels::StripStep& step : part.program.steps)
            work.near += m_run.gpu ? 0
                                   : item * effort(step.op) * static_cast<double>(step.width) *
                                         (step.perDestination ? destinations : edges);
        for (const executor::StripTableSource& table : part.tables) {
            if (!table.value.valid() || table.rows == kernels::StripRows::Single) continue;
            if (table.rows == kernels::StripRows::Gathered) work.rows += gathered(table.place, rowBytes(table.value));
            else work.near += m_run.rows(table.on) * rowBytes(table.value);
        }
        return work;
    }

    Work copied(const Instruction& i) { return {.near = 2 * result(i), .numbers = m_run.rows(i.rows)}; }

    Work call(const Instruction& i)
    {
        const ir::Op& op = m_analysis.program.op(i.op);
        if (m_analysis.info(i.op).view) return {};
        Work work;
        if (operators::of(op.name).traits.multiplies) {
            work.gemm = product(i);
            work.far = fetched(i);
            work.near = result(i);
            for (const Operand& o : i.operands) work.near += bytes(o);
            if (copiesRows(i, op)) work.near += 2 * m_run.rows(i.rows) * columnsOf(i) * floatBytes;
            return work;
        }
        if (m_analysis.info(i.op).kind == analysis::OpKind::Gather) return gather(i);
        work.far = fetched(i);
        work.near = result(i);
        for (const Operand& o : i.operands) work.near += bytes(o);
        return work;
    }

    // Gathers from a table that the batch holds.
    Work gather(const Instruction& i)
    {
        Work work{.near = result(i)};
        for (const Operand& o : i.operands)
            if (o.kind == Operand::InRegister && m_analysis.info(i.op).use(o.slot).use == analysis::Use::Source)
                work.rows = m_run.rows(i.rows) *
                            randomRow(WallKind::Rows, rowBytes(o.value), m_run.rows(o.rows) / m_run.batches);
        return work;
    }

    Work write(const executor::Written& w) const { return {.stored = m_run.rows(w.rows) * rowBytes(w.value)}; }

    Work reduction(const executor::Reduced& r)
    {
        Work work;
        for (const Operand& o : r.operands) work.near += bytes(o);
        return work;
    }

    // ---- bytes and tables that an instruction uses

    [[nodiscard]] double rowBytes(ir::ValueId value) const
    {
        return static_cast<double>(executor::rowBytes(m_analysis, value, m_structure.sizes()));
    }

    [[nodiscard]] double bytes(const Operand& o) const
    {
        return o.kind == Operand::InRegister ? m_run.rows(o.rows) * rowBytes(o.value) : 0;
    }

    [[nodiscard]] double result(const Instruction& i) const
    {
        double bytes = 0;
        for (const Register r : i.outputs) {
            const executor::RegisterInfo& info = m_program.registers[static_cast<std::size_t>(r)];
            bytes += m_run.rows(info.rows) * info.bytesPerRow;
        }
        return bytes;
    }

    // Bytes of tables that no earlier instruction of this batch has used.
    double fetched(const Instruction& i)
    {
        double sum = 0;
        for (const Operand& o : i.operands)
            if (m_tables.erase(o.from) > 0) sum += bytes(o);
        return sum;
    }

    // ---- rates

    // Tiles of nodes have as many rows as oneDNN likes, rows of edges are copied to be as many.
    bool copiesRows(const Instruction& i, const ir::Op& op) const
    {
        const auto shape = executor::denseShape(m_analysis.program, op);
        return shape && executor::prefersOneDnn(*shape) && i.rows.kind == RowKind::Owned;
    }

    // The columns of a product's rows.
    double columnsOf(const Instruction& i) const
    {
        for (const Operand& o : i.operands) {
            const ir::Value& value = m_analysis.program.value(o.value);
            if (o.kind == Operand::InRegister && !value.shape.empty()) return static_cast<double>(value.shape.back());
        }
        return 0;
    }

    double product(const Instruction& i) const
    {
        const ir::ValueId out = m_analysis.program.op(i.op).outputs.at(0);
        const double item = static_cast<double>(base::itemSize(m_analysis.program.value(out).dtype));
        const double outputs = rowBytes(out) / item, columns = columnsOf(i);
        const double operations = 2 * columns * outputs * m_run.rows(i.rows);
        return operations / m_walls.gemm(columns, outputs, m_analysis.program.value(out).dtype);
    }

    // The seconds of a row that is as likely as every other one.
    double randomRow(WallKind kind, double width, double tableRows) const
    {
        return row(kind, width, [&](double held) { return std::max(0.0, 1 - held / std::max(tableRows, 1.0)); });
    }

    double columnRow(WallKind kind, double width, const RowClass& on, ir::SpaceId space, ir::KeyId key)
    {
        const std::int64_t tableRows = m_structure.size(m_analysis.tables.target(space, key));
        if (!executor::isSliced(on, space, key)) return randomRow(kind, width, static_cast<double>(tableRows));
        return row(kind, width, [&](double held) { return m_reuse.misses(space, on.key, key, tableRows, held); });
    }

    // Each level serves the rows that the smaller ones have not.
    double row(WallKind kind, double width, const std::function<double(double held)>& misses) const
    {
        double seconds = 0, left = 1;
        for (const CacheLevel& level : m_walls.levels(kind, width)) {
            const double missed =
                std::isinf(level.bytes) ? 0 : std::min(left, misses(level.bytes / std::max(width, 1.0)));
            seconds += (left - missed) * level.seconds;
            left = missed;
        }
        return seconds;
    }

    [[nodiscard]] double tableOf(const RowClass& rows)
    {
        return static_cast<double>(m_structure.size(analysis::tableOf(rows)));
    }

    const analysis::Analysis& m_analysis;
    executor::Structure& m_structure;
    const LoopRun& m_run;
    const executor::LoopProgram& m_program;
    const WallTable& m_walls;
    ReuseOfColumns& m_reuse;
    std::set<Register> m_tables;  // registers that are rows of a table, until they are used
    Timing m_timing;
};

}  // namespace

double Timing::boundSeconds() const { return std::accumulate(bound.begin(), bound.end(), 0.0); }

Wall Timing::wall() const { return static_cast<Wall>(std::ranges::max_element(bound) - bound.begin()); }

void Timing::add(const Timing& other)
{
    seconds += other.seconds;
    for (std::size_t w = 0; w < bound.size(); ++w) bound[w] += other.bound[w];
}

void Timing::link(const plan::Bytes& copied, std::int64_t hostReads, const WallTable& walls)
{
    const double rate = walls.rate(WallKind::Up, walls.machine().read);
    const double read = static_cast<double>(hostReads) / (hostReadRate * rate);
    const double up = static_cast<double>(copied.h2d + copied.structure) / rate + read;
    seconds += read;
    const double down = static_cast<double>(copied.d2h) / walls.rate(WallKind::Down, walls.machine().write);
    if (std::max(up, down) <= boundSeconds()) return;
    bound = {};
    at(Wall::Link) = std::max(up, down);
}

double ReuseOfColumns::misses(ir::SpaceId space, ir::KeyId owner, ir::KeyId key, std::int64_t tableRows,
                              double heldRows)
{
    const Name name{space, owner, key};
    const auto known = m_known.find({name, heldRows});
    if (known != m_known.end()) return known->second;
    std::unique_ptr<Reuse>& reuse = m_columns[name];
    if (!reuse) {
        const executor::OwnedColumn& column = m_structure.ownedColumn(space, owner, key);
        const graph::Adjacency& adjacency = m_structure.adjacency(space, owner);
        reuse = std::make_unique<Reuse>([&column](std::int64_t position) { return column[position]; },
                                        adjacency.begin(adjacency.targets()), tableRows);
    }
    return m_known[{name, heldRows}] = reuse->misses(heldRows);
}

Timing timingOf(const analysis::Analysis& analysis, executor::Structure& structure, const LoopRun& run,
                const WallTable& walls, ReuseOfColumns& reuse)
{
    return Stopwatch(analysis, structure, run, walls, reuse).run();
}

}  // namespace hopscope::forecast

#include "executor/run/arrange.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <ATen/Parallel.h>

#include "base/proc.h"
#include "executor/calls/dense_shape.h"
#include "operators/operators.h"

namespace hopscope::executor {

namespace {

using base::Reorder;

// Measured on two cores of a virtual machine (Zen 5) and on 16 of another (Xeon), per core: the extra cost of a byte of
// a row read from memory instead of the caches; the cost to label, arrange and renumber an edge, and to sort a node and
// find it by its number. A byte of a result that is put back into the order of the input costs as much on any number of
// cores, since one at a time writes to a file.
constexpr double secondsPerByte = 0.035e-9, secondsPerEdge = 14e-9, secondsPerNode = 30e-9, secondsPerResult = 0.3e-9;
constexpr double spareable = 0.8;                 // of the rows of clear communities
constexpr double leastGain = 1.3;                 // of the time saved over the time spent: both are rough
constexpr double cached = 16 << 20;               // bytes of a table that the last cache serves anyway
constexpr std::int64_t communityBytes = 1 << 21;  // of the rows of a community, which a tile should find in its cache
constexpr double leastTogether = 0.1;             // share of the sampled edges within communities
constexpr double mostOfMemory = 0.8;
constexpr std::int64_t usualTile = 1024;

struct Relation {
    ir::SpaceId space;
    ir::KeyId owner, key;
    std::int64_t edges = 0;
};

// Whether the operator's rounding depends on how many rows it computes at once.
bool roundsByShape(const ir::Op& op)
{
    const operators::Operator& known = operators::of(op.name);
    return known.traits.multiplies || known.rule == operators::Rule::Recurrent || known.rule == operators::Rule::Cell ||
           known.rule == operators::Rule::Convolution;
}

// The rounding of MKL also depends on the addresses of its operands, which another order changes; that of oneDNN does
// not.
bool isByOneDnn(const ir::Program& program, const ir::Op& op)
{
    const auto shape = denseShape(program, op);
    return shape && prefersOneDnn(*shape) && program.value(op.outputs.at(0)).dtype == base::DType::Float32;
}

// The order of the nodes of one type.
class TypeOrder {
public:
    TypeOrder(Session& session, const StagePrograms& programs, ir::SpaceId type)
        : m_session(session),
          m_type(type),
          m_nodes(session.structure.size(type))
    {
        for (const auto& stage : programs)
            for (const LoopProgram& program : stage)
                if (program.loop->destination == type) m_programs.push_back(&program);
    }

    std::optional<OrderReport> arrange()
    {
        const double began = m_session.seconds();
        m_relation = largestRelation();
        if (!m_relation) return std::nullopt;
        OrderReport report;
        report.nodes = m_session.analysis.tables.spaceName(m_type);
        report.reason = choose(report);
        report.seconds = m_session.seconds() - began;
        return report;
    }

private:
    // The relation with the most edges between nodes of this type, among those that its loops follow.
    std::optional<Relation> largestRelation()
    {
        std::optional<Relation> largest;
        for (const LoopProgram* const program : m_programs)
            for (const plan::FrontierSource& s : program->loop->frontier) {
                const ir::RowClass rows = analysis::owned(m_session.analysis, s.space, s.owner);
                if (s.type != m_type || rows.kind != ir::RowKind::Owned) continue;
                const std::int64_t edges = m_session.structure.size(s.space);
                if (!largest || edges > largest->edges)
                    largest = Relation{.space = s.space, .owner = s.owner, .key = s.key, .edges = edges};
            }
        return largest;
    }

    // Makes the order, if there is to be one; the reason.
    std::string choose(OrderReport& report)
    {
        const Reorder wanted = m_session.options.reorder;
        const bool automatic = wanted == Reorder::Auto;
        if (m_session.device.gpu() && m_session.steady())
            return "a GPU with a journal and several GPUs compute nodes in the order of the input";
        if (m_nodes > std::numeric_limits<std::int32_t>::max()) return "there are too many nodes to number in 32 bits";
        if (automatic && !roundsAlike()) return "results could differ in their last bits";
        if (automatic && exceedsMemory())
            return "tables that do not fit into memory are read in the order of the input";
        if (automatic && !pays(spareable)) return "an order would not save enough time to be worth its cost";
        const graph::Neighbours graph = neighbours();
        report.before = report.after = graph::rowsPerDestination(graph, nullptr, tileRows());
        if (automatic) {
            if (!pays(spareable * distinct(report.before)))
                return "tiles already share too many rows for an order to pay";
            if (graph::sampledTogether(graph, communityRows(), at::get_num_threads()) < leastTogether)
                return "a sample of the edges shows too few communities that fit into caches";
        }
        graph::NodeOrder order =
            graph::withFixedTail(foundOrMade(graph, automatic ? Reorder::Community : wanted), rowsOfLastTile());
        const double after = graph::rowsPerDestination(graph, order.data(), tileRows());
        if (automatic && !pays(distinct(report.before - after))) return "communities save too few reads";
        report.used = automatic ? Reorder::Community : wanted;
        report.after = after;
        m_session.structure.arrangeNodes(m_type, std::move(order));
        const std::string reason = automatic ? "nodes of a community share rows" : "as asked for";
        const std::string rounding =
            roundsAlike() ? ""
                          : "; results may differ in their last bits from those computed in the order of the input";
        return reason + (m_found ? ", found in the cache" : "") + rounding;
    }

    // Where later runs find the order; nullptr: nowhere.
    [[nodiscard]] StructureCache* cache() const
    {
        StructureCache* const kept = m_session.structure.cache();
        return kept && kept->keeps(m_relation->space) ? kept : nullptr;
    }

    // A cached order is worth its search even where this run alone does not gain from it.
    graph::NodeOrder foundOrMade(const graph::Neighbours& graph, Reorder how)
    {
        const EdgeKeys edges{m_relation->space, m_relation->owner, m_relation->key};
        auto found = cache() ? cache()->findOrder(edges, how) : std::nullopt;
        m_found = found.has_value();
        if (found) return std::move(*found);
        graph::NodeOrder order = made(graph, how);
        if (cache()) cache()->keepOrder(edges, how, order);
        return order;
    }

    graph::NodeOrder made(const graph::Neighbours& graph, Reorder how) const
    {
        if (how == Reorder::Rcm) return graph::rcmOrder(graph);
        if (how == Reorder::Degree) return graph::degreeOrder(graph);
        return graph::communityOrder(graph, at::get_num_threads());
    }

    // Valid until the nodes are arranged.
    graph::Neighbours neighbours()
    {
        const OwnedColumn& column =
            m_session.structure.ownedColumn(m_relation->space, m_relation->owner, m_relation->key);
        const graph::Adjacency& rows = m_session.structure.adjacency(m_relation->space, m_relation->owner);
        graph::Neighbours graph{.offsets = rows.offsets(), .nodes = m_nodes};
        if (column.wide) graph.wideColumns = reinterpret_cast<const std::int64_t*>(column.bytes.get());
        else graph.columns = reinterpret_cast<const std::int32_t*>(column.bytes.get());
        return graph;
    }

    // Whether every product has the same shape in any order, and rounds alike wherever its rows lie. That holds for the
    // destinations of a tile, whose number is fixed, but not for edges, whose number depends on the tile. The last
    // tile, which is smaller, keeps its rows.
    [[nodiscard]] bool roundsAlike() const
    {
        return std::ranges::all_of(m_programs, [this](const LoopProgram* program) {
            if (!program->tiling || !program->reductions.empty()) return false;
            return std::ranges::none_of(program->loop->steps, [this](const plan::Step& step) {
                const ir::Program& ops = m_session.analysis.program;
                const bool rounds = roundsByShape(ops.op(step.op));
                return rounds && (step.rows.kind != ir::RowKind::Batch || !isByOneDnn(ops, ops.op(step.op)));
            });
        });
    }

    [[nodiscard]] std::int64_t rowsOfLastTile() const
    {
        std::int64_t most = 0;
        for (const LoopProgram* const program : m_programs)
            if (program->tiling) most = std::max(most, m_nodes % program->tiling->rows);
        return most;
    }

    [[nodiscard]] std::int64_t tileRows() const
    {
        std::int64_t least = usualTile;
        for (const LoopProgram* const program : m_programs)
            if (program->tiling) least = std::min(least, program->tiling->rows);
        return least;
    }

    // The bytes that an edge reads in place, from tables that no cache holds.
    [[nodiscard]] double bytesPerEdge() const
    {
        double bytes = 0;
        for (const LoopProgram* const program : m_programs)
            for (const ir::ValueId value : program->inPlace)
                if (rowBytes(value) * static_cast<double>(m_nodes) > cached) bytes += rowBytes(value);
        return bytes;
    }

    // The bytes of a row of all results.
    [[nodiscard]] double resultBytes() const
    {
        double bytes = 0;
        for (const LoopProgram* const program : m_programs)
            for (const Written& w : program->writes)
                if (m_session.isOutput(w.value)) bytes += rowBytes(w.value);
        return bytes;
    }

    [[nodiscard]] double rowBytes(ir::ValueId id) const
    {
        const ir::Value& value = m_session.analysis.program.value(id);
        auto bytes = static_cast<double>(base::itemSize(value.dtype));
        for (std::size_t d = 1; d < value.shape.size(); ++d) bytes *= static_cast<double>(value.shape[d]);
        return m_session.analysis.rowSpace(id) == m_type ? bytes : 0;
    }

    // Whether the tables and results of some loop exceed the memory: such a loop is computed in windows
    // (table_stream.h).
    [[nodiscard]] bool exceedsMemory() const
    {
        const auto memory = static_cast<double>(m_session.options.tableMemory.value_or(base::availableMemory()));
        return std::ranges::any_of(m_programs, [&](const LoopProgram* program) {
            double bytes = 0;
            for (const ir::ValueId value : program->inPlace) bytes += rowBytes(value);
            for (const Written& w : program->writes) bytes += rowBytes(w.value);
            return bytes * static_cast<double>(m_nodes) > memory * mostOfMemory;
        });
    }

    [[nodiscard]] std::int64_t communityRows() const
    {
        double widest = 1;
        for (const LoopProgram* const program : m_programs)
            for (const ir::ValueId value : program->inPlace) widest = std::max(widest, rowBytes(value));
        return static_cast<std::int64_t>(communityBytes / widest);
    }

    // Converts rows per destination to a share of its edges.
    [[nodiscard]] double distinct(double rows) const
    {
        return rows * static_cast<double>(m_nodes) / static_cast<double>(m_relation->edges);
    }

    // Whether an order is worth its time if it avoids this share of the reads.
    [[nodiscard]] bool pays(double share) const
    {
        const auto edges = static_cast<double>(m_relation->edges), nodes = static_cast<double>(m_nodes);
        const double cores = at::get_num_threads();
        const double search = cache() ? 0 : (edges * secondsPerEdge + nodes * secondsPerNode) / cores;
        const double cost = search + nodes * resultBytes() * secondsPerResult;
        return share * edges * bytesPerEdge() * secondsPerByte / cores > leastGain * cost;
    }

    Session& m_session;
    ir::SpaceId m_type;
    std::int64_t m_nodes;
    std::vector<const LoopProgram*> m_programs;
    std::optional<Relation> m_relation;
    bool m_found = false;  // in the cache
};

// Makes the columns by which a loop reads a store in place: its tiles would do so one by one.
void prepareColumns(Session& session, const LoopProgram& program)
{
    const auto prepare = [&](ir::ValueId table, const ir::RowClass& on, ir::SpaceId space, ir::KeyId key) {
        if (session.numbers(table, program) == Numbers::Places && isSliced(on, space, key))
            session.structure.ownedColumn(space, on.key, key, Numbers::Places);
    };
    const auto prepareSegment = [&](const Segment& s) {
        if (s.from < 0) prepare(s.source, s.messages, s.columnSpace, s.columnKey);
    };
    for (const Instruction& i : program.instructions) {
        if (i.act == Act::Segment) prepareSegment(i.segment);
        if (i.act == Act::Pick) prepare(i.value, i.rows, i.space, i.key);
        if (i.act != Act::Strips) continue;
        for (const StripTableSource& t : i.strips->tables)
            if (t.value.valid() && t.operand < 0) prepareSegment(t.place);
    }
}

}  // namespace

void arrangeNodes(Session& session, const StagePrograms& programs)
{
    if (session.options.reorder == Reorder::None) return;
    std::vector<ir::SpaceId> types;
    for (const auto& stage : programs)
        for (const LoopProgram& program : stage)
            if (std::ranges::find(types, program.loop->destination) == types.end())
                types.push_back(program.loop->destination);
    for (const ir::SpaceId type : types)
        if (auto report = TypeOrder(session, programs, type).arrange())
            session.report.orders.push_back(std::move(*report));
    for (const auto& stage : programs)
        for (const LoopProgram& program : stage) prepareColumns(session, program);
}

}  // namespace hopscope::executor

#include "pipeline/opening/data_lints.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/naming/table_labels.h"
#include "base/units.h"
#include "pipeline/opening/growth.h"

namespace hopscope::pipeline {

namespace {

using analysis::Analysis;
using analysis::OpInfo;
using analysis::OpKind;
using analysis::Role;
using analysis::RoleKind;
using analysis::SpaceKind;
using ir::OpId;
using ir::SpaceId;
using ir::ValueId;

std::string counted(std::int64_t number) { return base::formatCount(static_cast<double>(number)); }

class Linter {
public:
    explicit Linter(Prepared& prepared) : m_prepared(prepared), m_a(prepared.analysis) {}

    void run()
    {
        unusedInputs();
        for (const ir::Op& op : m_a.program.ops) extremum(op);
        for (const ir::Op& op : m_a.program.ops) selfLoops(op);
        degrees();
        growth();
    }

private:
    void add(const char* code, std::string message, OpId op, std::string hint)
    {
        if (m_told.insert(code).second)
            m_prepared.analysis.lints.push_back(
                {.code = code, .message = std::move(message), .op = op, .blocking = false, .hint = std::move(hint)});
    }

    // ---- inputs

    std::set<ValueId> readValues() const
    {
        std::set<ValueId> read;
        for (const ir::Op& op : m_a.program.ops)
            ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
                if (m_a.info(op.id).use(slot).use != analysis::Use::Shape) read.insert(v);
            });
        for (const ir::NamedValue& out : m_a.program.outputs) read.insert(out.value);
        return read;
    }

    // Indices count as read: the structure of the graph is made from them.
    void unusedInputs()
    {
        const std::set<ValueId> read = readValues();
        for (const auto& [name, role] : m_prepared.schema.roles) {
            const bool rows =
                rowsOf(role).kind != analysis::TableKind::None && !listsEdges(role) && role.kind != RoleKind::Key;
            const bool used = std::ranges::any_of(m_a.program.inputs, [&, &wanted = name](const ir::NamedValue& in) {
                return in.name == wanted && read.contains(in.value);
            });
            if (rows && !used && m_prepared.inputs.contains(name))
                add("unused-input", "the numbers of the input " + name + " do not take part in any output", {},
                    "leave it out, or check that the model passes it on");
        }
    }

    // ---- edges

    // The ends of the edges of a relation, as the data has them; nullopt if they are derived.
    std::optional<analysis::IntColumn> end(SpaceId relation, int which) const
    {
        const analysis::Space& space = m_a.tables.space(relation);
        const ValueId from = space.givenEnd(which);
        if (!from.valid()) return std::nullopt;
        const std::string& name = m_a.program.value(from).name;
        const auto view = m_prepared.inputs.find(name);
        const auto role = m_prepared.schema.roles.find(name);
        if (view == m_prepared.inputs.end() || role == m_prepared.schema.roles.end()) return std::nullopt;
        return analysis::endColumn(view->second, role->second.form, which,
                                   m_prepared.schema.sizes.at(role->second.relation));
    }

    std::int64_t rowsWithout(const analysis::IntColumn& column, std::int64_t rows) const
    {
        std::vector<bool> seen(static_cast<std::size_t>(rows));
        for (std::int64_t i = 0; i < column.size(); ++i) seen[static_cast<std::size_t>(column[i])] = true;
        return std::ranges::count(seen, false);
    }

    static bool takesExtremum(const ir::Op& op)
    {
        if (op.name.ends_with("scatter_max") || op.name.ends_with("scatter_min")) return true;
        return std::ranges::any_of(op.args, [](const ir::Arg& arg) {
            const auto* text = std::get_if<std::string>(&arg.data);
            return text && (*text == "amax" || *text == "amin" || *text == "max" || *text == "min");
        });
    }

    void extremum(const ir::Op& op)
    {
        const OpInfo& info = m_a.info(op.id);
        if (info.kind != OpKind::Aggregate || !takesExtremum(op) || info.structureOnly) return;
        const analysis::Key& key = m_a.tables.key(info.role.key);
        if (m_a.tables.space(info.role.space).kind != SpaceKind::Edge || key.kind != analysis::KeyKind::End) return;
        const auto ids = end(info.role.space, key.end);
        const auto rows = m_prepared.sizes.find(info.role.target);
        if (!ids || rows == m_prepared.sizes.end()) return;
        const std::int64_t alone = rowsWithout(*ids, rows->second);
        if (alone == 0) return;
        add("isolated-extremum",
            ir::describeOp(op) + ": no message reaches " + counted(alone) + " of " + counted(rows->second) +
                " rows of " + analysis::tableLabel(m_a.tables, info.role.target) + ", where the initial value stays",
            op.id, "check that the next operators expect this value: for instance 0 rather than -inf");
    }

    // Finds operators that append one edge per node: a graph with self-loops gets each of them twice.
    void selfLoops(const ir::Op& op)
    {
        const OpInfo& info = m_a.info(op.id);
        if (info.kind != OpKind::Concat || !info.result.valid()) return;
        const std::vector<SpaceId>& parts = m_a.tables.space(info.result).parts;
        if (parts.size() != 2) return;
        const analysis::Space &edges = m_a.tables.space(parts[0]), &nodes = m_a.tables.space(parts[1]);
        if (edges.kind != SpaceKind::Edge || nodes.kind != SpaceKind::Node || edges.ends[0] != parts[1] ||
            edges.ends[1] != parts[1])
            return;
        const auto sources = end(parts[0], 0), targets = end(parts[0], 1);
        if (!sources || !targets) return;
        std::int64_t loops = 0;
        for (std::int64_t i = 0; i < sources->size(); ++i) loops += (*sources)[i] == (*targets)[i] ? 1 : 0;
        if (loops > 0)
            add("self-loops-twice",
                edges.name + " has self-loops (number: " + counted(loops) + "), and " + ir::describeOp(op) +
                    " adds one for each row of " + nodes.name + ": those nodes have two",
                op.id, "remove self-loops from the data, or let the model replace them instead of adding some");
    }

    // ---- counts

    // Structure-only values that follow from an aggregation, with the end of the edges that it counts at.
    std::map<ValueId, int> countedValues() const
    {
        std::map<ValueId, int> found;
        for (const ir::Op& op : m_a.program.ops) {
            const OpInfo& info = m_a.info(op.id);
            if (!info.structureOnly || info.kind == OpKind::Gather) continue;
            int side = -1;
            if (info.kind == OpKind::Aggregate) side = sideOf(info.role);
            else
                ir::forEachOperand(op, [&](ir::Slot, ValueId v) {
                    if (const auto it = found.find(v); it != found.end()) side = it->second;
                });
            if (side < 0) continue;
            for (const ValueId out : op.outputs) found[out] = side;
        }
        return found;
    }

    // 0 or 1: the end that a key of edges, or of edges and loops, goes by; -1 for other keys.
    int sideOf(const Role& role) const
    {
        if (!role.key.valid()) return -1;
        const analysis::Key& key = m_a.tables.key(role.key);
        if (key.kind == analysis::KeyKind::End) return key.end;
        if (key.kind != analysis::KeyKind::Parts || key.parts.empty()) return -1;
        const analysis::Key& first = m_a.tables.key(key.parts.front());
        return first.kind == analysis::KeyKind::End ? first.end : -1;
    }

    void degrees()
    {
        const std::map<ValueId, int> known = countedValues();
        for (const ir::Op& op : m_a.program.ops) {
            const OpInfo& info = m_a.info(op.id);
            const int side = info.kind == OpKind::Gather && info.structureOnly ? sideOf(info.role) : -1;
            if (side < 0) continue;
            ir::forEachOperand(op, [&](ir::Slot slot, ValueId v) {
                const auto it = known.find(v);
                if (info.use(slot).use != analysis::Use::Source || it == known.end() || it->second == side) return;
                add("whole-graph-degrees",
                    ir::describeOp(op) + " reads counts of the edges at the other end, such as degrees: " +
                        "these counts are computed once, over the whole graph",
                    op.id, "do not run this layer on the blocks of a sampler, which lack edges of their sources");
            });
        }
    }

    // ---- sizes of numbers

    void growth()
    {
        const auto found = growthBeyondType(m_a, m_prepared.sizes);
        if (!found) return;
        const ir::Op& op = m_a.program.op(found->op);
        add("growing-sums",
            "numbers grow by a factor of about 1e" + std::to_string(std::lround(found->power)) +
                " in sums over neighbours up to " + ir::describeOp(op) + " (rounds: " + std::to_string(found->rounds) +
                "), unless weights make them smaller: " + base::dtypeName(m_a.program.value(op.outputs.at(0)).dtype) +
                " cannot hold them",
            op.id, "aggregate by mean, normalise between the rounds, or compute in a wider type");
    }

    Prepared& m_prepared;
    const Analysis& m_a;
    std::set<std::string> m_told;
};

}  // namespace

void addDataLints(Prepared& prepared)
{
    if (prepared.hasData() && !prepared.analysis.refusal) Linter(prepared).run();
}

}  // namespace hopscope::pipeline

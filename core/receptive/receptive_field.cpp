#include "receptive/receptive_field.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "analysis/naming/table_labels.h"
#include "base/units.h"
#include "executor/exception_boundary.h"
#include "graph/random.h"
#include "graph/safetensors.h"
#include "receptive/explosion.h"

namespace hopscope::receptive {

namespace {

using analysis::Analysis;
using base::ErrorCode;
using ir::SpaceId;

constexpr std::uint64_t nodeStream = 2;

// The tables that outputs have rows of, by name.
std::map<std::string, SpaceId> destinations(const Analysis& analysis)
{
    std::map<std::string, SpaceId> found;
    for (const ir::NamedValue& output : analysis.program.outputs) {
        const SpaceId table = analysis.rowSpace(output.value);
        if (table.valid()) found[analysis::tableLabel(analysis.tables, table)] = table;
    }
    return found;
}

std::string joined(const std::map<std::string, SpaceId>& tables)
{
    std::string text;
    for (const auto& [name, table] : tables) text += (text.empty() ? "" : ", ") + name;
    return text;
}

base::Result<SpaceId> destination(const Analysis& analysis, const std::string& wanted)
{
    const std::map<std::string, SpaceId> tables = destinations(analysis);
    if (tables.empty())
        return base::fail(ErrorCode::Unsupported, "no output of the model has rows: every result depends on all nodes",
                          "only a node or an edge has a receptive field");
    const auto named = tables.find(wanted);
    if (named != tables.end()) return named->second;
    if (wanted.empty() && tables.size() == 1) return tables.begin()->second;
    return base::fail(ErrorCode::Usage,
                      wanted.empty() ? "the outputs have rows of several tables"
                                     : "no output has rows of '" + wanted + "'",
                      "choose one with --type: " + joined(tables));
}

// Operators that read all rows make every field the whole graph: that is said rather than left to be guessed.
std::vector<std::string> notesOf(const Analysis& analysis, const Demand& demand)
{
    std::vector<std::string> notes;
    const bool whole = std::ranges::any_of(demand.rows, [](const auto& entry) { return entry.second->all; });
    if (!whole) return notes;
    for (const ir::Op& op : analysis.program.ops)
        if (analysis.info(op.id).kind == analysis::OpKind::Reduce && !analysis.info(op.id).structureOnly)
            notes.push_back(ir::describeOp(op) + " reads all rows: every node depends on the whole graph");
    return notes;
}

class Study {
public:
    Study(const loader::Walk& walk, const Analysis& analysis, const base::TensorMap& inputs, const Request& request,
          const std::string& folder, std::stop_token stop)
        : m_analysis(analysis),
          m_request(request),
          m_stop(std::move(stop)),
          m_structure(walk, analysis, inputs, folder, at::get_num_threads(), m_stop),
          m_moves(m_structure, analysis),
          m_backtrack(analysis, m_moves)
    {}

    schema::ReceptiveField make(SpaceId table)
    {
        schema::ReceptiveField field;
        field.table = analysis::tableLabel(m_analysis.tables, table);
        field.nodes = m_structure.size(table);
        field.node = nodeOf(field);
        const Demand demand = m_backtrack.from(table, field.node);
        Levels levels(m_structure, m_analysis, m_moves, m_backtrack);
        describe(field, demand, levels);
        field.blocks = levels.blocks(table, field.node);
        for (int depth = field.depth; depth > 0; --depth) {
            const auto reads = levels.reads(depth, m_backtrack.round(depth, table, field.node));
            field.reads.insert(field.reads.end(), reads.begin(), reads.end());
        }
        field.notes = notesOf(m_analysis, demand);
        if (m_request.average)
            field.explosion = explosion(m_structure, m_analysis, m_moves, m_backtrack,
                                        {.table = table, .seed = m_request.seed, .budget = m_request.budget}, m_stop);
        return field;
    }

private:
    std::int64_t nodeOf(const schema::ReceptiveField& field) const
    {
        if (field.nodes == 0) executor::raise(ErrorCode::Input, field.table + " has no rows");
        if (!m_request.node) return graph::Draws(graph::streamKey(m_request.seed, nodeStream), 0).below(field.nodes);
        if (*m_request.node >= 0 && *m_request.node < field.nodes) return *m_request.node;
        executor::raise(ErrorCode::Usage, field.table + " has no row " + std::to_string(*m_request.node) + ": it has " +
                                              base::counted(field.nodes, "row") + ", from 0");
    }

    void describe(schema::ReceptiveField& field, const Demand& demand, Levels& levels)
    {
        const bool listed = idCount(demand) <= schema::mostFieldIds;
        field.levels = levels.describe(demand, listed);
        field.depth = field.levels.empty() ? 0 : field.levels.front().depth;
        if (m_request.idsFile.empty()) return;
        executor::unwrap(graph::writeSafetensors(m_request.idsFile,
                                                 levels.ids(listed ? field.levels : levels.describe(demand, true))));
    }

    const Analysis& m_analysis;
    const Request& m_request;
    std::stop_token m_stop;
    executor::Structure m_structure;
    RowMoves m_moves;
    Backtrack m_backtrack;
};

}  // namespace

base::Result<schema::ReceptiveField> receptiveField(const loader::Walk& walk, const Analysis& analysis,
                                                    const base::TensorMap& inputs, const Request& request,
                                                    const std::string& folder, std::stop_token stop)
{
    const auto start = std::chrono::steady_clock::now();
    const base::Result<SpaceId> table = destination(analysis, request.table);
    if (!table) return base::forward(table);
    const c10::InferenceMode inference;
    base::Result<schema::ReceptiveField> field = executor::catchAtBoundary(
        [&] { return Study(walk, analysis, inputs, request, folder, std::move(stop)).make(*table); },
        [] { return base::fail(ErrorCode::Resources, "out of memory for the receptive field"); });
    if (field) field->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return field;
}

}  // namespace hopscope::receptive

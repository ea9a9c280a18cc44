#include "analysis/analyse.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/choices.h"
#include "analysis/depth.h"
#include "analysis/lowering/composed_linear.h"
#include "analysis/lowering/dead_code.h"
#include "analysis/lowering/early_products.h"
#include "analysis/lowering/fold_views.h"
#include "analysis/lowering/front_rows.h"
#include "analysis/lowering/functionalise.h"
#include "analysis/lowering/group_ranks.h"
#include "analysis/lowering/merged_rows.h"
#include "analysis/lowering/neighbour_tables.h"
#include "analysis/lowering/paired_rows.h"
#include "analysis/lowering/prefix_sums.h"
#include "analysis/lowering/reassociate.h"
#include "analysis/lowering/row_maps.h"
#include "analysis/lowering/separate_products.h"
#include "analysis/rows/bind.h"
#include "analysis/rows/infer.h"

namespace hopscope::analysis {

namespace {

// Most messages name the place already.
std::string messageWithPlace(const base::Error& error)
{
    const bool placed = error.where.empty() || error.message.find(error.where) != std::string::npos;
    return placed ? error.message : error.message + " (" + error.where + ")";
}

const char* lintOf(base::ErrorCode code)
{
    if (code == base::ErrorCode::Untrusted) return "untrusted";
    return code == base::ErrorCode::Input ? "no-run" : "no-split";  // of the data: the model may be as it should be
}

void block(Analysis& analysis, base::Error error)
{
    analysis.lints.push_back({.code = lintOf(error.code),
                              .message = messageWithPlace(error),
                              .op = analysis.refusedOp,
                              .blocking = true,
                              .hint = error.hint});
    analysis.refusal = std::move(error);
}

ValueInfo unanalysedValue(Builder& builder, const ir::Value& value, const InputSchema& schema)
{
    if (value.origin != ir::Origin::Op) return bindInput(builder, value, value.id, schema);
    ValueInfo info;
    info.dims.resize(value.shape.size());
    return info;
}

void findRefusedOp(Analysis& analysis, const std::string& where)
{
    if (where.empty()) return;
    const auto& ops = analysis.program.ops;
    const auto it = std::ranges::find_if(ops, [&](const ir::Op& op) { return ir::describeOp(op) == where; });
    if (it != ops.end()) analysis.refusedOp = it->id;
}

// Values of raw constants and parameters keep their order, so that the loader's tensors can be found again.
void lintPrologue(Analysis& a)
{
    for (const ir::Op& op : a.program.ops) {
        const OpInfo& info = a.info(op.id);
        if (info.structureOnly && !info.prologueReason.empty())
            a.lints.push_back({.code = "prologue-only",
                               .message = ir::describeOp(op) + " runs once for the whole graph: " + info.prologueReason,
                               .op = op.id,
                               .blocking = false});
    }
}

constexpr const char* prefixText = " subtracts sums over all rows, whose rounding errors exceed those of a single "
                                   "segment; here each segment is summed "
                                   "separately, and compared with the model more loosely";

struct Lowered {
    ir::Program program;
    std::vector<Reassociation> moved;
};

// Sizes of tables in the sample and in the data. Sizes that tables share in the sample are left out.
RowCounts rowCounts(const ir::Program& program, const InputSchema& schema)
{
    RowCounts counts;
    for (const auto& [name, value] : program.inputs) {
        const auto role = schema.roles.find(name);
        const InputRows rows = role == schema.roles.end() ? InputRows{} : rowsOf(role->second);
        const auto size = schema.sizes.find(rows.table);
        const auto& shape = program.value(value).shape;
        if (rows.kind == TableKind::None || size == schema.sizes.end() || rows.dim >= shape.size()) continue;
        const auto [known, added] = counts.try_emplace(shape[rows.dim], size->second);
        if (!added && known->second != size->second) known->second = -1;
    }
    std::erase_if(counts, [](const auto& count) { return count.second < 0; });
    return counts;
}

// The program that the rules work on: known patterns of operators are replaced by the operators that they stand for.
Lowered lowered(const ir::Program& functional, const InputSchema& schema, const Options& options)
{
    ir::Program composed = dropFronts(functional);
    composeLinear(composed);
    const ir::Program unmerged = removeDead(separateMergedRows(separatePairedRows(composed)));
    Lowered made{.program = removeDead(simplifyTables(rankGroups(unmerged))), .moved = {}};
    dropUnusedPositions(made.program);
    if (!options.reassociate) return made;
    const ir::Program separated = multiplySeparately(made.program, made.moved);
    const ir::Program reassociated = reassociate(separated, made.moved);
    made.program = multiplyBeforeGathers(reassociated, rowCounts(reassociated, schema), made.moved);
    return made;
}

std::string describe(const Reassociation& r)
{
    const std::string columns = std::to_string(r.out) + " instead of " + std::to_string(r.in) + " columns are gathered";
    if (r.before == MovedBefore::Gather)
        return r.place + " is computed before rows are gathered: rows of " + columns +
               ", and results round differently";
    if (r.before == MovedBefore::Columns)
        return r.place + " is computed for each of the tables that the model places side by side: no rows of " +
               std::to_string(r.in) + " columns are written, and results round differently";
    return r.place + " is computed before the aggregation: rows of " + columns +
           " and added up, and sums round differently";
}

void lintReassociations(Analysis& a)
{
    for (const Reassociation& r : a.reassociations)
        a.lints.push_back({.code = "reassociated", .message = describe(r), .op = {}});
    if (a.reassociate && a.reassociations.empty())
        a.lints.push_back({.code = "reassociated",
                           .message =
                               "nothing to reassociate: no product with a weight follows a sum or mean of "
                               "messages that it makes narrower, or rows that are gathered from smaller tables or "
                               "placed side by side",
                           .op = {}});
}

void finish(Analysis& analysis, const std::vector<std::string>& differences)
{
    if (!analysis.refusal) {
        computeDepths(analysis);
        findChoices(analysis);
    }
    lintPrologue(analysis);
    if (!analysis.refusal) lintReassociations(analysis);
    for (const std::string& place : differences)
        analysis.lints.push_back({.code = "prefix-sums", .message = place + prefixText, .op = {}});
}

// The ways to read a number of rows.
struct Reading {
    bool prefixes, fixedSizes;
};

// Reads numbers of rows in the ways that a model may mean them, until one fits: the largest number in an index counts the first
// rows of a table, or all of them where these meet all rows (checked on the data); a number in the file is a constant of the
// model, or the size of a table that is equally large on every graph. The refusal is that of the plainest reading.
base::Status inferSizes(Builder& builder, const ir::Program& program, const InputSchema& schema)
{
    static constexpr Reading readings[] = {{true, false}, {false, false}, {true, true}, {false, true}};
    const bool positions = builder.positions;
    Builder plainest;
    base::Status refused;
    std::set<std::string> numbered;
    for (const auto& [prefixes, fixedSizes] : readings) {
        if ((!prefixes && builder.counted.empty()) || (fixedSizes && builder.fixed.empty())) continue;
        builder = Builder();
        builder.positions = positions;
        builder.prefixes = prefixes;
        builder.fixedSizes = fixedSizes;
        base::Status inferred = infer(builder, program, schema);
        if (inferred) return inferred;
        numbered.insert(builder.numbered.begin(), builder.numbered.end());
        if (fixedSizes) continue;
        refused = std::move(inferred);
        plainest = builder;
    }
    builder = std::move(plainest);
    builder.numbered = std::move(numbered);
    return refused;
}

// A model that moves rows by where they lie. Edges whose numbers turn out to be needed become a table of nodes, one
// relation after the other.
std::optional<Analysis> analyseByPosition(const ir::Program& functional, const InputSchema& schema,
                                          const Options& options)
{
    Lowered made = lowered(mapRows(foldViews(functional)), schema, options);
    std::set<std::string> numbered;
    while (true) {
        Builder builder;
        builder.positions = true;
        if (inferSizes(builder, made.program, withNumberedEdges(schema, numbered))) {
            builder.analysis.reassociations = std::move(made.moved);
            return std::move(builder.analysis);
        }
        const std::size_t before = numbered.size();
        numbered.merge(builder.numbered);
        if (numbered.size() == before) return std::nullopt;
    }
}

// A model that needs the rows of a graph at once, or combines them in a way that cannot be put together from parts: its graphs are
// the destinations of a stage, whose batches hold all rows of each.
std::optional<Analysis> analyseByGraph(const ir::Program& functional, const InputSchema& schema, const Options& options)
{
    const InputSchema gathered = withGatheredGraphs(schema);
    if (gathered.gathered.empty()) return std::nullopt;
    Lowered made = lowered(functional, schema, options);
    Builder builder;
    if (!inferSizes(builder, made.program, gathered)) return analyseByPosition(functional, gathered, options);
    builder.analysis.reassociations = std::move(made.moved);
    return std::move(builder.analysis);
}

}  // namespace

Analysis analyse(const ir::Program& raw, const InputSchema& schema, const Options& options)
{
    auto functional = functionalise(raw);
    if (!functional) return unanalysed(raw, schema, functional.error());
    const std::vector<std::string> differences = sumSegments(*functional);
    Builder builder;
    Lowered made = lowered(*functional, schema, options);
    const base::Status inferred = inferSizes(builder, made.program, schema);
    builder.analysis.reassociations = std::move(made.moved);
    if (!inferred) {
        auto found = analyseByPosition(*functional, schema, options);
        if (!found) found = analyseByGraph(*functional, schema, options);
        if (found) builder.analysis = std::move(*found);
        else block(builder.analysis, inferred.error());
    }
    builder.analysis.reassociate = options.reassociate;
    finish(builder.analysis, differences);
    return std::move(builder.analysis);
}

Analysis unanalysed(const ir::Program& program, const InputSchema& schema, const base::Error& why)
{
    Builder builder;
    declareTables(builder, program, schema);
    for (const ir::Value& value : program.values) builder.addValue(value, unanalysedValue(builder, value, schema));
    for (const ir::Op& op : program.ops) builder.addOp(op, unanalysedOp(op));
    builder.analysis.program.inputs = program.inputs;
    builder.analysis.program.outputs = program.outputs;
    findRefusedOp(builder.analysis, why.where);
    block(builder.analysis, why);
    return std::move(builder.analysis);
}

}  // namespace hopscope::analysis

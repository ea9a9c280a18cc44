#include "models/features.h"

#include <algorithm>
#include <set>

#include "analysis/lowering/front_rows.h"
#include "analysis/lowering/functionalise.h"
#include "analysis/lowering/group_ranks.h"
#include "analysis/lowering/merged_rows.h"
#include "analysis/lowering/neighbour_tables.h"
#include "analysis/lowering/prefix_sums.h"
#include "analysis/lowering/row_maps.h"
#include "graph/safetensors.h"
#include "models/pipeline.h"
#include "operators/operators.h"

namespace hopscope::models {

namespace {

using Words = std::set<std::string>;

template <class E>
std::string number(E value)
{
    return std::to_string(static_cast<int>(value));
}

std::string kindOf(const analysis::Analysis& a, ir::SpaceId space)
{
    return space.valid() ? number(a.tables.space(space).kind) : "none";
}

// The tables of a value's rows.
std::string tablesOf(const analysis::Analysis& a, ir::ValueId v)
{
    std::string text;
    for (const ir::SpaceId space : a.values[v.at()].dims)
        if (space.valid()) text += kindOf(a, space);
    return text;
}

void addOperator(const analysis::Analysis& a, const ir::Op& op, Words& words)
{
    const analysis::OpInfo& info = a.info(op.id);
    const std::string rule = number(operators::of(op.name).rule), kind = number(info.kind);
    words.insert("operator:" + op.name);
    for (const ir::ValueId out : op.outputs) words.insert("rule:" + rule + "/" + kind + "/" + tablesOf(a, out));
    ir::forEachOperand(op, [&](ir::Slot slot, ir::ValueId v) {
        words.insert("use:" + number(info.use(slot).use) + "/" + kind + "/" + tablesOf(a, v));
    });
    if (info.role.key.valid()) words.insert("key:" + number(a.tables.key(info.role.key).kind) + "/" + kind);
    if (info.kind == analysis::OpKind::Reduce) words.insert("reduction:" + number(info.reduction));
    if (info.structureOnly) words.insert("prologue:" + rule);
}

// What each pass makes of the functional program, if anything.
void addRewritings(const ir::Program& raw, Words& words)
{
    const auto functional = analysis::functionalise(raw);
    if (!functional) return;
    const auto changed = [&](const ir::Program& made) { return made.ops.size() != functional->ops.size(); };
    if (changed(raw)) words.insert("rewriting:functional");
    if (changed(analysis::dropFronts(*functional))) words.insert("rewriting:fronts");
    if (changed(analysis::separateMergedRows(*functional))) words.insert("rewriting:merged");
    if (changed(analysis::rankGroups(*functional))) words.insert("rewriting:ranks");
    if (changed(analysis::simplifyTables(*functional))) words.insert("rewriting:tables");
    if (changed(analysis::mapRows(*functional))) words.insert("rewriting:rows");
    ir::Program summed = *functional;
    if (!analysis::sumSegments(summed).empty()) words.insert("rewriting:prefixes");
}

void addRoles(const analysis::InputSchema& schema, Words& words)
{
    for (const auto& [name, role] : schema.roles)
        words.insert("input:" + number(role.kind) + "/" + number(role.form) + "/" + number(role.dim));
}

// "refused:the_table_is_..": the sentence without names and numbers, so that models refused alike are alike.
std::string refusalOf(const base::Error& error)
{
    std::string text = error.hint.empty() ? error.message : error.hint;
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    std::ranges::replace(text, ' ', '_');
    std::ranges::replace(text, '\n', '_');
    return "refused:" + text.substr(0, 80);
}

std::string joined(const Words& words)
{
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

}  // namespace

std::string featuresOf(const Case& c)
{
    const auto model = loader::load(c.model);
    if (!model) return refusalOf(model.error());
    const auto data = graph::mapSafetensors(c.graphs.front().data);
    if (!data) return refusalOf(data.error());
    const auto prepared = prepare(*model, *data, c.roles);
    if (!prepared) return refusalOf(prepared.error());
    Words words;
    for (const ir::Op& op : prepared->analysis.program.ops) addOperator(prepared->analysis, op, words);
    addRewritings(prepared->walk.program, words);
    addRoles(prepared->schema, words);
    return joined(words);
}

}  // namespace hopscope::models

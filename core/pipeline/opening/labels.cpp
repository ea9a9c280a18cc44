#include "pipeline/opening/labels.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "analysis/naming/op_words.h"
#include "analysis/naming/table_labels.h"
#include "analysis/naming/value_names.h"
#include "base/text.h"
#include "operators/operators.h"

namespace hopscope::pipeline {

namespace {

using analysis::Analysis;
using analysis::SpaceId;

constexpr int deepest = 4;

bool isNumber(const std::string& text)
{
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The first `level` names of the module path, each with the list index behind it ("convs.0"), and the class there.
std::string moduleLabel(const std::vector<ir::ModuleFrame>& modules, int level, bool withType)
{
    std::string label, type;
    int named = 0;
    for (const ir::ModuleFrame& frame : modules) {
        if (frame.name.empty()) continue;
        const bool index = isNumber(frame.name);
        if (!index && ++named > level) break;
        label += (label.empty() ? "" : ".") + frame.name;
        type = frame.type;
    }
    const bool container = type.empty() || type == "ModuleList" || type == "Sequential";
    return container || !withType ? label : label + " " + type;
}

std::string opLabel(const Analysis& analysis, const ir::Op& op)
{
    return analysis::opWord(analysis::nodeKind(analysis, op.id), op.name);
}

// Views, sizes and index arithmetic say nothing about the purpose of a stage.
bool worthNaming(const Analysis& analysis, const ir::Op& op)
{
    return !analysis.info(op.id).view && !ir::isScalarOp(op) && !operators::of(op.name).traits.plumbing;
}

std::vector<std::string> labelsAt(const Analysis& analysis, const std::vector<ir::OpId>& ops, int level, bool withType)
{
    std::vector<std::string> labels;
    for (const ir::OpId id : ops) {
        const ir::Op& op = analysis.program.op(id);
        const bool inModule = !ir::modulePath(op.modules).empty();
        if (!inModule && !worthNaming(analysis, op)) continue;
        const std::string label = inModule ? moduleLabel(op.modules, level, withType) : opLabel(analysis, op);
        if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
    }
    return labels;
}

std::vector<ir::OpId> opsOf(const plan::Stage& stage)
{
    std::vector<ir::OpId> ops;
    for (const plan::Loop& loop : stage.loops) {
        for (const plan::Step& step : loop.steps) ops.push_back(step.op);
        for (const plan::Step& step : loop.reductions) ops.push_back(step.op);
    }
    ops.insert(ops.end(), stage.rowless.begin(), stage.rowless.end());
    std::ranges::sort(ops);
    return ops;
}

std::vector<StageLabels> stageLabelsAt(const Analysis& analysis, const plan::Plan& plan, int level)
{
    std::vector<StageLabels> labels;
    std::set<ir::OpId> done;
    for (const plan::Stage& stage : plan.stages) {
        std::vector<ir::OpId> first, again;
        for (const ir::OpId op : opsOf(stage)) (done.contains(op) ? again : first).push_back(op);
        done.insert(first.begin(), first.end());
        labels.push_back({labelsAt(analysis, first, level, true), labelsAt(analysis, again, level, false)});
        // A module that does something new is not worth a second mention.
        for (const std::string& label : labelsAt(analysis, first, level, false)) std::erase(labels.back().again, label);
    }
    return labels;
}

// A level tells the stages apart if no two neighbours read the same.
bool tellsApart(const std::vector<StageLabels>& labels) { return std::ranges::adjacent_find(labels) == labels.end(); }

}  // namespace

std::vector<StageLabels> stageLabels(const Analysis& analysis, const plan::Plan& plan)
{
    for (int level = 1; level <= deepest; ++level) {
        std::vector<StageLabels> labels = stageLabelsAt(analysis, plan, level);
        if (tellsApart(labels)) return labels;
    }
    return stageLabelsAt(analysis, plan, 1);
}

std::vector<std::string> opLabels(const Analysis& analysis, const std::vector<ir::OpId>& ops)
{
    return labelsAt(analysis, ops, 1, false);
}

std::string tableLabel(const Analysis& analysis, SpaceId id)
{
    return id.valid() ? analysis::tableLabel(analysis.tables, id) : std::string();
}

std::string shapeLabel(const Analysis& analysis, ir::ValueId id)
{
    const ir::Value& value = analysis.program.value(id);
    const std::vector<SpaceId>& dims = analysis.info(id).dims;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < value.shape.size(); ++i) {
        const bool rows = i < dims.size() && dims[i].valid();
        parts.push_back(rows ? tableLabel(analysis, dims[i]) : std::to_string(value.shape[i]));
    }
    return "[" + join(parts, ", ") + "] " + base::dtypeName(value.dtype);
}

std::string join(const std::vector<std::string>& parts, const std::string& separator, std::size_t limit)
{
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0 && base::shownWidth(text) + base::shownWidth(parts[i]) > limit)
            return text + " +" + std::to_string(parts.size() - i) + " more";
        text += (i > 0 ? separator : "") + parts[i];
    }
    return text;
}

}  // namespace hopscope::pipeline

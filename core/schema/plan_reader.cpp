#include <algorithm>

#include "schema/documents.h"
#include "schema/plan_check.h"
#include "schema/plan_document.h"
#include "schema/plan_translation.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using Hashes = std::map<std::string, std::string>;

constexpr const char* newPlan = "make a new plan with `hopscope-engine plan`";

base::Status checkHashes(const Hashes& found, const Hashes& expected, const std::string& file)
{
    static constexpr std::pair<const char*, const char*> kinds[] = {
        {"model", "a different model"}, {"roles", "inputs with different roles"}, {"data", "different data"}};
    for (const auto& [name, other] : kinds) {
        const auto here = found.find(name), wanted = expected.find(name);
        if (here == found.end() || wanted == expected.end() || here->second == wanted->second) continue;
        return base::fail(base::ErrorCode::Input, file + ": the plan was made for " + other, newPlan,
                          file + " /hashes/" + name);
    }
    return {};
}

// Its operators are those of the program that was analysed.
base::Status checkReassociated(bool made, const analysis::Analysis& analysis, const std::string& file)
{
    if (made == analysis.reassociate) return {};
    return base::fail(base::ErrorCode::Input,
                      file + ": the plan was made " + (made ? "with" : "without") + " --reassociate",
                      made ? "pass --reassociate, or make a new plan without it: export and debug accept no others"
                           : "leave --reassociate out, or make a new plan with it",
                      file + " /reassociate");
}

ModelNames modelNames(const analysis::Analysis& analysis, const Names& names)
{
    return {.op = [&](ir::OpId op) { return op.at() < analysis.program.ops.size(); },
            .value = [&](ir::ValueId value) { return value.at() < analysis.program.values.size(); },
            .table = [&](const TableName& table) { return names.findSpace(table.text).has_value(); },
            .key = [&](const KeyName& key) { return names.findKey(key.text).has_value(); },
            .rows = [&](const RowsName& rows) { return names.findRows(rows.text).has_value(); }};
}

void checkLoops(const PlannedStage& stage, const Reader& item)
{
    const std::vector<Reader> loops = item.items("loops"), ops = item.items("ops");
    std::vector<std::string> destinations;
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const std::string& destination = stage.loops[i].destination.text;
        if (std::ranges::find(destinations, destination) != destinations.end())
            loops[i].child("destination").refuse("has a loop in this stage already");
        destinations.push_back(destination);
    }
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (std::ranges::find(destinations, stage.ops[i].loop.text) == destinations.end())
            ops[i].child("loop").refuse("is not a loop of this stage");
}

void checkStages(const PlanDocument& document, const Reader& root)
{
    const std::vector<Reader> items = root.items("stages");
    for (std::size_t i = 0; i < items.size(); ++i) {
        const plan::StageId next = plan::StageId::at(i);
        if (document.stages[i].index != next)
            items[i].child("index").refuse("must be " + std::to_string(next.number) + ": stages count from 1");
        checkLoops(document.stages[i], items[i]);
    }
}

template <class T>
void checkList(const std::vector<T>& found, const std::vector<T>& expected, const Reader& list)
{
    if (found.size() != expected.size()) return list.refuse("differs from the stored value in the model");
    const std::vector<Reader> items = list.items();
    for (std::size_t i = 0; i < items.size(); ++i)
        if (found[i] != expected[i]) items[i].refuse("differs from the stored value in the model");
}

void checkCheckpoints(const PlanDocument& document, const Reader& root, const analysis::Analysis& analysis)
{
    const std::vector<Reader> items = root.items("checkpoints");
    for (std::size_t i = 0; i < items.size(); ++i) {
        const PlannedCheckpoint& found = document.checkpoints[i];
        if (static_cast<std::size_t>(found.stored.stage.number) > document.stages.size())
            items[i].child("stage").refuse("is not a stage of this plan");
        const PlannedCheckpoint expected = plannedCheckpoint(found.stored, analysis);
        if (found.dtype != expected.dtype) items[i].child("dtype").refuse("differs from the stored value in the model");
        checkList(found.shape, expected.shape, items[i].child("shape"));
        checkList(found.rowSpaces, expected.rowSpaces, items[i].child("row_spaces"));
    }
}

plan::Plan planOf(const PlanDocument& document, const Names& names)
{
    plan::Plan plan = document.plan;
    plan.stages = Translation(names)(document.stages);
    for (const PlannedCheckpoint& checkpoint : document.checkpoints) plan.checkpoints.push_back(checkpoint.stored);
    return plan;
}

tl::unexpected<base::Error> refused(const Reader& root)
{
    base::Error error = root.status().error();
    if (error.hint.empty()) error.hint = newPlan;
    return tl::unexpected(std::move(error));
}

}  // namespace

base::Result<plan::Plan> planFrom(const json::Value& document, const analysis::Analysis& analysis,
                                  const std::string& name, const std::map<std::string, std::string>& hashes)
{
    const Reader root(document, name);
    const PlanDocument found = readPlanDocument(root);
    if (!root.ok()) return refused(root);
    // First, since a plan for another model names operators that this one does not have.
    if (const base::Status same = checkHashes(found.plan.hashes, hashes, name); !same) return base::forward(same);
    if (const base::Status same = checkReassociated(found.reassociate.value_or(false), analysis, name); !same)
        return base::forward(same);
    const Names names(analysis);
    checkNames(found, root, modelNames(analysis, names));
    if (root.ok()) checkStages(found, root);
    if (root.ok()) checkCheckpoints(found, root, analysis);
    if (!root.ok()) return refused(root);
    plan::Plan plan = planOf(found, names);
    checkPlan(root, plan, analysis);
    if (!root.ok()) return refused(root);
    return plan;
}

base::Result<plan::Plan> readPlan(const std::string& text, const analysis::Analysis& analysis, const std::string& file,
                                  const std::map<std::string, std::string>& hashes)
{
    const base::Result<json::Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    return planFrom(*document, analysis, file, hashes);
}

}  // namespace hopscope::schema

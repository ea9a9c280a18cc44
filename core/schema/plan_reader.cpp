#include <algorithm>

#include "schema/documents.h"
#include "schema/envelope.h"
#include "schema/names.h"
#include "schema/pins.h"
#include "schema/plan_check.h"
#include "schema/report.h"
#include "schema/stages.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using Hashes = std::map<std::string, std::string>;

constexpr const char* newPlan = "make a new plan with `hopscope-engine plan`";

// Names to ids, refusing what the analysis does not have.
class PlanReader {
public:
    explicit PlanReader(const analysis::Analysis& analysis) : m_names(analysis), m_analysis(analysis) {}

    [[nodiscard]] plan::Plan read(const Reader& root) const;

private:
    template <class T>
    T known(const Reader& reader, std::optional<T> found, const char* what) const
    {
        if (!found && reader.ok()) reader.refuse("names no " + std::string(what) + " of this model");
        return found.value_or(T{});
    }
    [[nodiscard]] ir::OpId op(const Reader& r) const
    {
        return known(r, m_names.findOp(r.as<std::string>()), "operator");
    }
    [[nodiscard]] ir::ValueId value(const Reader& r) const
    {
        return known(r, m_names.findValue(r.as<std::string>()), "value");
    }
    [[nodiscard]] ir::SpaceId space(const Reader& r) const
    {
        return known(r, m_names.findSpace(r.as<std::string>()), "table");
    }
    [[nodiscard]] ir::KeyId key(const Reader& r) const { return known(r, m_names.findKey(r.as<std::string>()), "key"); }
    [[nodiscard]] ir::RowClass rows(const Reader& r) const
    {
        return known(r, m_names.findRows(r.as<std::string>()), "row class");
    }

    [[nodiscard]] std::vector<ir::OpId> ops(const Reader& list) const;
    [[nodiscard]] plan::Step step(const Reader& item) const
    {
        return {op(item.child("op")), rows(item.child("class"))};
    }
    [[nodiscard]] std::vector<plan::Access> accesses(const Reader& list) const;
    [[nodiscard]] plan::FrontierSource frontier(const Reader& item) const;
    [[nodiscard]] plan::Loop loop(const Reader& item) const;
    [[nodiscard]] plan::Stage stage(const Reader& item) const;
    void placeStep(const Reader& item, plan::Stage& stage) const;
    [[nodiscard]] plan::Checkpoint checkpoint(const Reader& item, std::size_t stages) const;
    static void matches(const Reader& list, const json::Value& expected);
    void residents(const Reader& root, plan::Plan& plan) const;
    void costs(const Reader& root, plan::Plan& plan) const;
    void stages(const Reader& root, plan::Plan& plan) const;
    void checkpoints(const Reader& root, plan::Plan& plan) const;

    Names m_names;
    const analysis::Analysis& m_analysis;
};

std::vector<ir::OpId> PlanReader::ops(const Reader& list) const
{
    std::vector<ir::OpId> result;
    for (const Reader& item : list.items()) result.push_back(op(item));
    return result;
}

std::vector<plan::Access> PlanReader::accesses(const Reader& list) const
{
    std::vector<plan::Access> result;
    for (const Reader& item : list.items()) result.push_back({value(item.child("value")), rows(item.child("class"))});
    return result;
}

plan::FrontierSource PlanReader::frontier(const Reader& item) const
{
    return {.type = space(item.child("type")),
            .space = space(item.child("space")),
            .owner = key(item.child("owner")),
            .key = key(item.child("key"))};
}

plan::Loop PlanReader::loop(const Reader& item) const
{
    plan::Loop loop;
    loop.destination = space(item.child("destination"));
    for (const Reader& source : item.items("frontier")) loop.frontier.push_back(frontier(source));
    loop.reads = accesses(item.child("reads"));
    loop.writes = accesses(item.child("writes"));
    for (const Reader& reduction : item.items("reductions")) loop.reductions.push_back(step(reduction));
    return loop;
}

void PlanReader::placeStep(const Reader& item, plan::Stage& stage) const
{
    const ir::SpaceId destination = space(item.child("loop"));
    const auto loop = std::ranges::find(stage.loops, destination, &plan::Loop::destination);
    if (loop != stage.loops.end()) loop->steps.push_back(step(item));
    else if (item.ok()) item.child("loop").refuse("is not a loop of this stage");
}

plan::Stage PlanReader::stage(const Reader& item) const
{
    plan::Stage stage;
    stage.index = readStage(item.child("index"));
    for (const Reader& entry : item.items("loops")) {
        plan::Loop next = loop(entry);
        const bool twice =
            std::ranges::find(stage.loops, next.destination, &plan::Loop::destination) != stage.loops.end();
        if (twice && item.ok()) entry.child("destination").refuse("has a loop in this stage already");
        stage.loops.push_back(std::move(next));
    }
    for (const Reader& entry : item.items("ops")) placeStep(entry, stage);
    stage.rowless = ops(item.child("rowless"));
    return stage;
}

void PlanReader::stages(const Reader& root, plan::Plan& plan) const
{
    for (const Reader& item : root.items("stages")) {
        const plan::StageId next = plan::StageId::at(plan.stages.size());
        plan.stages.push_back(stage(item));
        if (plan.stages.back().index != next && item.ok())
            item.child("index").refuse("must be " + std::to_string(next.number) + ": stages count from 1");
    }
}

plan::Checkpoint PlanReader::checkpoint(const Reader& item, std::size_t stages) const
{
    plan::Checkpoint result;
    result.value = value(item.child("value"));
    result.stage = readStage(item.child("stage"));
    result.output = item.get<bool>("output");
    result.bytesWritten = json::nullable<std::int64_t>(item, "bytes_written");
    result.bytesRead = json::nullable<std::int64_t>(item, "bytes_read");
    const auto dtype = item.get<std::string>("dtype");
    if (!item.ok()) return result;
    if (static_cast<std::size_t>(result.stage.number) > stages)
        item.child("stage").refuse("is not a stage of this plan");
    if (dtype != base::dtypeName(m_analysis.program.value(result.value).dtype))
        item.child("dtype").refuse("does not match the value");
    matches(item.child("shape"), symbolicShape(m_analysis, result.value));
    matches(item.child("row_spaces"), rowSpaces(m_analysis, result.value));
    return result;
}

void PlanReader::matches(const Reader& list, const json::Value& expected)
{
    const std::vector<Reader> items = list.items();
    if (list.ok() && items.size() != expected.size()) list.refuse("does not match the value");
    for (std::size_t i = 0; list.ok() && i < items.size(); ++i)
        if (items[i].value() != (*expected.asArray())[i]) items[i].refuse("does not match the value");
}

void PlanReader::checkpoints(const Reader& root, plan::Plan& plan) const
{
    for (const Reader& item : root.items("checkpoints")) {
        if (!item.ok()) return;
        plan.checkpoints.push_back(checkpoint(item, plan.stages.size()));
    }
}

// Plans of version 1.0 have none.
void PlanReader::residents(const Reader& root, plan::Plan& plan) const
{
    plan.residentStructure = root.maybe<bool>("resident_structure").value_or(false);
    if (!root.has("resident")) return;
    for (const Reader& item : root.child("resident").items()) {
        if (!item.ok()) return;
        plan.resident.push_back(value(item));
    }
}

void PlanReader::costs(const Reader& root, plan::Plan& plan) const
{
    plan.objective = json::named<base::Objective>(root, "objective");
    const auto unit = json::named<base::Unit>(root, "unit");
    if (root.ok() && unit != base::unitOf(plan.objective)) root.child("unit").refuse("is not that of the objective");
    plan.cost = json::nullable<double>(root, "cost");
    plan.lowerBound = json::nullable<double>(root, "lower_bound");
    plan.gap = json::nullable<double>(root, "gap");
    plan.peakMemory = json::nullable<std::int64_t>(root, "peak_memory");
    const Reader bytes = root.child("bytes");
    if (!bytes.value().isNull()) plan.bytes = readBytes(bytes);
}

plan::Plan PlanReader::read(const Reader& root) const
{
    plan::Plan plan;
    plan.hashes = readHashes(root);
    plan.strategy = json::named<base::Strategy>(root, "strategy");
    plan.device = root.get<std::string>("device");
    plan.batch = json::nullable<std::int64_t>(root, "batch");
    if (root.ok() && plan.batch && *plan.batch < 1) root.child("batch").refuse("must be at least 1");
    if (const Reader list = root.child("pins"); !list.value().isNull()) plan.pins = readPins(list, m_names);
    costs(root, plan);
    plan.prologue = ops(root.child("prologue"));
    stages(root, plan);
    checkpoints(root, plan);
    residents(root, plan);
    return plan;
}

base::Status checkHashes(const Hashes& found, const Hashes& expected, const std::string& file)
{
    static constexpr std::pair<const char*, const char*> kinds[] = {
        {"model", "another model"}, {"roles", "inputs with other roles"}, {"data", "other data"}};
    for (const auto& [name, other] : kinds) {
        const auto here = found.find(name), wanted = expected.find(name);
        if (here == found.end() || wanted == expected.end() || here->second == wanted->second) continue;
        return base::fail(base::ErrorCode::Input, file + ": the plan was made for " + other, newPlan,
                          file + " /hashes/" + name);
    }
    return {};
}

// Its operators are those of the program that was analysed.
base::Status checkReassociated(const Reader& root, const analysis::Analysis& analysis, const std::string& file)
{
    const bool made = root.maybe<bool>("reassociate").value_or(false);
    if (!root.ok()) return root.status();
    if (made == analysis.reassociate) return {};
    return base::fail(base::ErrorCode::Input,
                      file + ": the plan was made " + (made ? "with" : "without") + " --reassociate",
                      made ? "give --reassociate, or make a new plan without it: export and debug take no other"
                           : "leave --reassociate out, or make a new plan with it",
                      file + " /reassociate");
}

}  // namespace

base::Result<plan::Plan> planFrom(const json::Value& document, const analysis::Analysis& analysis,
                                  const std::string& name, const std::map<std::string, std::string>& hashes)
{
    const Reader root(document, name);
    checkEnvelope(root, "hopscope-plan");
    const Hashes found = readHashes(root);
    if (!root.ok()) return base::forward(root.status());
    // First, since a plan for another model names operators that this one does not have.
    if (const base::Status same = checkHashes(found, hashes, name); !same) return base::forward(same);
    if (const base::Status same = checkReassociated(root, analysis, name); !same) return base::forward(same);
    plan::Plan plan = PlanReader(analysis).read(root);
    checkPlan(root, plan, analysis);
    if (root.ok()) return plan;
    base::Error error = root.status().error();
    if (error.hint.empty()) error.hint = newPlan;
    return tl::unexpected(std::move(error));
}

base::Result<plan::Plan> readPlan(const std::string& text, const analysis::Analysis& analysis, const std::string& file,
                                  const std::map<std::string, std::string>& hashes)
{
    const base::Result<json::Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    return planFrom(*document, analysis, file, hashes);
}

}  // namespace hopscope::schema

#include "schema/documents.h"
#include "schema/envelope.h"
#include "schema/names.h"
#include "schema/pins.h"
#include "schema/report.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Value;

Value opList(const std::vector<ir::OpId>& ops)
{
    Value list = Value::array();
    for (ir::OpId op : ops) list.push(ir::opName(op));
    return list;
}

Value stepList(const std::vector<plan::Step>& steps, const Names& names)
{
    Value list = Value::array();
    for (const plan::Step& step : steps) {
        Value item;
        item["op"] = ir::opName(step.op);
        item["class"] = names.rows(step.rows);
        list.push(std::move(item));
    }
    return list;
}

Value accessList(const std::vector<plan::Access>& accesses, const Names& names)
{
    Value list = Value::array();
    for (const plan::Access& access : accesses) {
        Value item;
        item["value"] = ir::valueName(access.value);
        item["class"] = names.rows(access.rows);
        list.push(std::move(item));
    }
    return list;
}

Value frontierList(const std::vector<plan::FrontierSource>& sources, const Names& names)
{
    Value list = Value::array();
    for (const plan::FrontierSource& source : sources) {
        Value item;
        item["type"] = names.space(source.type);
        item["space"] = names.space(source.space);
        item["owner"] = names.key(source.owner);
        item["key"] = names.key(source.key);
        list.push(std::move(item));
    }
    return list;
}

Value writeLoop(const plan::Loop& loop, const Names& names)
{
    Value item;
    item["destination"] = names.space(loop.destination);
    item["frontier"] = frontierList(loop.frontier, names);
    item["reads"] = accessList(loop.reads, names);
    item["writes"] = accessList(loop.writes, names);
    item["reductions"] = stepList(loop.reductions, names);
    return item;
}

// The operators of all loops in one list, each with its loop: what a reader of the plan looks at first.
Value stageOps(const plan::Stage& stage, const Names& names)
{
    Value list = Value::array();
    for (const plan::Loop& loop : stage.loops) {
        Value steps = stepList(loop.steps, names);
        for (Value& step : *steps.asArray()) {
            step["loop"] = names.space(loop.destination);
            list.push(std::move(step));
        }
    }
    return list;
}

Value writeStage(const plan::Stage& stage, const Names& names)
{
    Value item;
    item["index"] = stage.index.number;
    item["ops"] = stageOps(stage, names);
    item["rowless"] = opList(stage.rowless);
    item["loops"] = Value::array();
    for (const plan::Loop& loop : stage.loops) item["loops"].push(writeLoop(loop, names));
    return item;
}

Value writeCheckpoint(const plan::Checkpoint& checkpoint, const analysis::Analysis& analysis)
{
    Value item;
    item["value"] = ir::valueName(checkpoint.value);
    item["stage"] = checkpoint.stage.number;
    item["output"] = checkpoint.output;
    item["dtype"] = base::dtypeName(analysis.program.value(checkpoint.value).dtype);
    item["shape"] = symbolicShape(analysis, checkpoint.value);
    item["row_spaces"] = rowSpaces(analysis, checkpoint.value);
    item["bytes_written"] = json::orNull(checkpoint.bytesWritten);
    item["bytes_read"] = json::orNull(checkpoint.bytesRead);
    return item;
}

// What people call the values that the plan names.
Value calledNames(const plan::Plan& plan, const analysis::Analysis& analysis)
{
    const analysis::ValueNames names(analysis);
    Value called = Value::object();
    const auto add = [&](ir::ValueId value) { called[ir::valueName(value)] = names[value]; };
    for (const plan::Stage& stage : plan.stages)
        for (const plan::Loop& loop : stage.loops) {
            for (const plan::Access& read : loop.reads) add(read.value);
            for (const plan::Access& write : loop.writes) add(write.value);
        }
    for (const plan::Checkpoint& checkpoint : plan.checkpoints) add(checkpoint.value);
    return called;
}

void writeCosts(Value& document, const plan::Plan& plan)
{
    document["objective"] = base::nameOf(plan.objective);
    document["unit"] = base::nameOf(base::unitOf(plan.objective));
    document["cost"] = json::orNull(plan.cost);
    document["lower_bound"] = json::orNull(plan.lowerBound);
    document["gap"] = json::orNull(plan.gap);
    document["bytes"] = plan.bytes ? bytesValue(*plan.bytes) : Value();
    document["peak_memory"] = json::orNull(plan.peakMemory);
}

}  // namespace

Value planValue(const plan::Plan& plan, const analysis::Analysis& analysis)
{
    const Names names(analysis);
    Value document = startDocument("hopscope-plan");
    document["strategy"] = base::nameOf(plan.strategy);
    document["device"] = plan.device;
    document["batch"] = json::orNull(plan.batch);
    if (analysis.reassociate) document["reassociate"] = true;
    document["pins"] = writePins(plan.pins);
    writeCosts(document, plan);
    document["prologue"] = opList(plan.prologue);
    document["stages"] = Value::array();
    for (const plan::Stage& stage : plan.stages) document["stages"].push(writeStage(stage, names));
    document["checkpoints"] = Value::array();
    for (const plan::Checkpoint& c : plan.checkpoints) document["checkpoints"].push(writeCheckpoint(c, analysis));
    document["resident"] = Value::array();
    for (const ir::ValueId v : plan.resident) document["resident"].push(ir::valueName(v));
    document["resident_structure"] = plan.residentStructure;
    document["hashes"] = writeHashes(plan.hashes);
    return document;
}

std::string writePlan(const plan::Plan& plan, const analysis::Analysis& analysis)
{
    Value document = planValue(plan, analysis);
    document["names"] = calledNames(plan, analysis);
    return json::write(document, true);
}

}  // namespace hopscope::schema

#include "schema/report.h"

#include <algorithm>
#include <cmath>

#include "schema/dtypes.h"
#include "schema/envelope.h"
#include "schema/stages.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;

Value predictedValue(const PredictedRecord& predicted)
{
    Value item;
    item["seconds"] = predicted.seconds;
    item["bytes"] = bytesValue(predicted.bytes);
    item["peak_memory"] = predicted.peakMemory;
    item["batches"] = predicted.batches;
    item["destinations"] = predicted.destinations;
    item["frontier_rows"] = predicted.frontierRows;
    return item;
}

PredictedRecord predictedFrom(const Reader& item)
{
    return {.seconds = item.get<double>("seconds"),
            .bytes = readBytes(item.child("bytes")),
            .peakMemory = item.get<std::int64_t>("peak_memory"),
            .batches = item.get<std::int64_t>("batches"),
            .destinations = item.get<std::int64_t>("destinations"),
            .frontierRows = item.get<std::int64_t>("frontier_rows")};
}

Value operatorValue(const OperatorTimeRecord& op)
{
    Value item;
    item["op"] = op.op;
    item["label"] = op.label;
    item["fused"] = Value(op.fused);
    item["seconds"] = op.seconds;
    item["bytes"] = op.bytes;
    return item;
}

OperatorTimeRecord operatorFrom(const Reader& item)
{
    return {.op = item.get<std::string>("op"),
            .label = item.get<std::string>("label"),
            .fused = item.get<std::vector<std::string>>("fused"),
            .seconds = item.get<double>("seconds"),
            .bytes = item.get<std::int64_t>("bytes")};
}

Value stageValue(const StageRecord& stage)
{
    Value item;
    item["index"] = stage.index.number;
    item["seconds"] = stage.seconds;
    item["phases"] = phasesValue(stage.phases);
    item["batches"] = stage.batches;
    item["smallest_batch"] = stage.smallestBatch;
    item["largest_batch"] = stage.largestBatch;
    item["destinations"] = stage.destinations;
    item["frontier_rows"] = stage.frontierRows;
    item["back_offs"] = stage.backOffs;
    item["bytes"] = bytesValue(stage.bytes);
    item["peak_memory"] = stage.peakMemory;
    item["reserved_memory"] = json::orNull(stage.reservedMemory);
    item["overlap"] = json::orNull(stage.overlap);
    item["windows"] = stage.windows;
    item["file_bytes"] = stage.fileBytes;
    item["core_seconds"] = json::orNull(stage.coreSeconds);
    item["predicted"] = stage.predicted ? predictedValue(*stage.predicted) : Value();
    item["bound_seconds"] = json::orNull(stage.boundSeconds);
    item["wall"] = stage.wall ? Value(base::nameOf(*stage.wall)) : Value();
    item["operators"] = Value::array();
    for (const OperatorTimeRecord& op : stage.operators) item["operators"].push(operatorValue(op));
    return item;
}

Value outputValue(const OutputRecord& output)
{
    Value item;
    item["name"] = output.name;
    item["file"] = output.file;
    item["dtype"] = base::dtypeName(output.dtype);
    item["shape"] = Value(output.shape);
    return item;
}

PhaseRecord readPhases(const Reader& item)
{
    PhaseRecord record;
    for (const NamedPhase& phase : namedPhases) record.*phase.seconds = item.get<double>(phase.name);
    return record;
}

StageRecord stageFrom(const Reader& item)
{
    StageRecord stage;
    stage.index = readStage(item.child("index"));
    stage.seconds = item.get<double>("seconds");
    stage.phases = readPhases(item.child("phases"));
    stage.batches = item.get<std::int64_t>("batches");
    stage.smallestBatch = item.get<std::int64_t>("smallest_batch");
    stage.largestBatch = item.get<std::int64_t>("largest_batch");
    stage.destinations = item.get<std::int64_t>("destinations");
    stage.frontierRows = item.get<std::int64_t>("frontier_rows");
    stage.backOffs = item.get<std::int64_t>("back_offs");
    stage.bytes = readBytes(item.child("bytes"));
    stage.peakMemory = item.get<std::int64_t>("peak_memory");
    stage.reservedMemory = item.maybe<std::int64_t>("reserved_memory");
    stage.overlap = item.maybe<double>("overlap");
    stage.windows = item.maybe<std::int64_t>("windows").value_or(0);
    stage.fileBytes = item.maybe<std::int64_t>("file_bytes").value_or(0);
    stage.coreSeconds = item.maybe<double>("core_seconds");
    if (const Reader predicted = item.child("predicted"); !predicted.value().isNull())
        stage.predicted = predictedFrom(predicted);
    stage.boundSeconds = json::nullable<double>(item, "bound_seconds");
    if (const Reader wall = item.child("wall"); !wall.value().isNull()) stage.wall = json::named<plan::Wall>(wall);
    if (item.has("operators"))
        for (const Reader& op : item.child("operators").items()) stage.operators.push_back(operatorFrom(op));
    return stage;
}

OutputRecord readOutput(const Reader& item)
{
    return {.name = item.get<std::string>("name"),
            .file = item.get<std::string>("file"),
            .dtype = readDType(item.child("dtype")),
            .shape = item.get<std::vector<std::int64_t>>("shape")};
}

std::vector<base::Fuse> fuseFrom(const Reader& list)
{
    std::vector<base::Fuse> fuse;
    for (const Reader& name : list.items()) fuse.push_back(json::named<base::Fuse>(name));
    return fuse;
}

Value fuseValue(const std::optional<std::vector<base::Fuse>>& fuse)
{
    if (!fuse) return {};
    Value list = Value::array();
    for (const base::Fuse family : *fuse) list.push(base::nameOf(family));
    return list;
}

Value orderValue(const OrderRecord& order)
{
    Value item;
    item["nodes"] = order.nodes;
    item["order"] = base::nameOf(order.order);
    item["seconds"] = order.seconds;
    item["alpha_before"] = order.alphaBefore;
    item["alpha_after"] = order.alphaAfter;
    item["reason"] = order.reason;
    return item;
}

OrderRecord orderFrom(const Reader& item)
{
    return {.nodes = item.get<std::string>("nodes"),
            .order = json::named<base::Reorder>(item, "order"),
            .seconds = item.get<double>("seconds"),
            .alphaBefore = item.get<double>("alpha_before"),
            .alphaAfter = item.get<double>("alpha_after"),
            .reason = item.get<std::string>("reason")};
}

Value narrowedValue(const NarrowedRecord& narrowed)
{
    Value item;
    item["value"] = narrowed.value;
    item["from"] = base::dtypeName(narrowed.from);
    item["to"] = base::dtypeName(narrowed.to);
    item["max_abs"] = narrowed.maxAbsolute;
    item["largest"] = narrowed.largest;
    item["infinite"] = narrowed.infinite;
    return item;
}

// The largest errors of all outputs stand beside the places; null without verification, and where they are infinite.
Value reassociatedValue(const std::vector<ReassociatedRecord>& places, const std::optional<Verification>& verify)
{
    Value item;
    item["places"] = Value::array();
    for (const ReassociatedRecord& place : places) {
        Value one;
        one["place"] = place.place;
        one["module"] = place.module;
        one["in"] = place.in;
        one["out"] = place.out;
        item["places"].push(std::move(one));
    }
    double absolute = 0, relative = 0;
    for (const TensorRecord& output : verify ? verify->outputs : std::vector<TensorRecord>()) {
        absolute = std::max(absolute, output.maxAbsolute);
        relative = std::max(relative, output.maxRelative);
    }
    const bool compared = verify && !verify->outputs.empty();
    item["max_abs"] = compared && std::isfinite(absolute) ? Value(absolute) : Value();
    item["max_rel"] = compared && std::isfinite(relative) ? Value(relative) : Value();
    return item;
}

std::vector<ReassociatedRecord> reassociatedFrom(const Reader& item)
{
    std::vector<ReassociatedRecord> places;
    for (const Reader& place : item.items("places"))
        places.push_back({.place = place.get<std::string>("place"),
                          .module = place.get<std::string>("module"),
                          .in = place.get<std::int64_t>("in"),
                          .out = place.get<std::int64_t>("out")});
    // They follow from the verification.
    for (const char* const error : {"max_abs", "max_rel"}) static_cast<void>(json::nullable<double>(item, error));
    return places;
}

NarrowedRecord narrowedFrom(const Reader& item)
{
    return {.value = item.get<std::string>("value"),
            .from = readDType(item.child("from")),
            .to = readDType(item.child("to")),
            .maxAbsolute = item.get<double>("max_abs"),
            .largest = item.get<double>("largest"),
            .infinite = item.get<std::int64_t>("infinite")};
}

Value resumedValue(const ResumedRecord& resumed)
{
    Value item;
    item["chunks"] = resumed.chunks;
    item["destinations"] = resumed.destinations;
    item["damaged"] = resumed.damaged;
    return item;
}

ResumedRecord resumedFrom(const Reader& item)
{
    return {.chunks = item.get<std::int64_t>("chunks"),
            .destinations = item.get<std::int64_t>("destinations"),
            .damaged = item.get<std::int64_t>("damaged")};
}

Value shardValue(const ShardRecord& shard)
{
    Value item;
    item["index"] = shard.index;
    item["count"] = shard.count;
    item["waited"] = shard.waited;
    item["computed"] = shard.computed;
    item["complete"] = shard.complete;
    item["run"] = shard.run;
    return item;
}

ShardRecord shardFrom(const Reader& item)
{
    return {.index = item.get<int>("index"),
            .count = item.get<int>("count"),
            .waited = item.get<double>("waited"),
            .computed = item.get<std::int64_t>("computed"),
            .complete = item.get<bool>("complete"),
            .run = item.get<std::string>("run")};
}

Report readFields(const Reader& root)
{
    Report report;
    report.model = root.get<std::string>("model");
    report.modelClass = root.get<std::string>("model_class");
    report.strategy = json::named<base::Strategy>(root, "strategy");
    report.device = root.get<std::string>("device");
    report.confinement = root.maybe<std::string>("confinement").value_or("");
    if (const Reader fuse = root.child("fuse"); !fuse.value().isNull()) report.fuse = fuseFrom(fuse);
    if (root.maybe<std::string>("reorder")) report.reorder = json::named<base::Reorder>(root, "reorder");
    if (root.has("orders"))
        for (const Reader& order : root.items("orders")) report.orders.push_back(orderFrom(order));
    if (root.maybe<std::string>("store")) report.store = json::named<base::StoreType>(root, "store");
    if (root.has("narrowed"))
        for (const Reader& store : root.items("narrowed")) report.narrowed.push_back(narrowedFrom(store));
    if (root.has("reassociated")) report.reassociated = reassociatedFrom(root.child("reassociated"));
    report.hashes = readHashes(root);
    for (const Reader& stage : root.items("stages")) report.stages.push_back(stageFrom(stage));
    report.prologueSeconds = root.get<double>("prologue_seconds");
    report.seconds = root.get<double>("seconds");
    report.peakMemory = root.get<std::int64_t>("peak_memory");
    for (const Reader& output : root.items("outputs")) report.outputs.push_back(readOutput(output));
    if (root.has("resumed")) report.resumed = resumedFrom(root.child("resumed"));
    if (root.has("shard")) report.shard = shardFrom(root.child("shard"));
    report.notes = root.get<std::vector<std::string>>("notes");
    if (root.has("not_finite")) report.notFinite = notFiniteFrom(root.child("not_finite"));
    const Reader verify = root.child("verify");
    if (!verify.value().isNull()) report.verify = verificationFrom(verify);
    return report;
}

}  // namespace

Value phasesValue(const PhaseRecord& record)
{
    Value item;
    for (const NamedPhase& phase : namedPhases) item[phase.name] = record.*phase.seconds;
    return item;
}

Value bytesValue(const plan::Bytes& bytes)
{
    Value item;
    item["d2h"] = bytes.d2h;
    item["h2d"] = bytes.h2d;
    item["structure"] = bytes.structure;
    return item;
}

plan::Bytes readBytes(const Reader& item)
{
    return {.d2h = item.get<std::int64_t>("d2h"),
            .h2d = item.get<std::int64_t>("h2d"),
            .structure = item.get<std::int64_t>("structure")};
}

Value reportValue(const Report& report)
{
    Value document = startDocument("hopscope-report");
    document["model"] = report.model;
    document["model_class"] = report.modelClass;
    document["strategy"] = base::nameOf(report.strategy);
    document["device"] = report.device;
    document["confinement"] = report.confinement.empty() ? Value() : Value(report.confinement);
    document["fuse"] = fuseValue(report.fuse);
    document["reorder"] = report.reorder ? Value(base::nameOf(*report.reorder)) : Value();
    document["orders"] = Value::array();
    for (const OrderRecord& order : report.orders) document["orders"].push(orderValue(order));
    document["store"] = report.store ? Value(base::nameOf(*report.store)) : Value();
    document["narrowed"] = Value::array();
    for (const NarrowedRecord& store : report.narrowed) document["narrowed"].push(narrowedValue(store));
    if (report.reassociated) document["reassociated"] = reassociatedValue(*report.reassociated, report.verify);
    document["hashes"] = writeHashes(report.hashes);
    document["stages"] = Value::array();
    for (const StageRecord& stage : report.stages) document["stages"].push(stageValue(stage));
    document["prologue_seconds"] = report.prologueSeconds;
    document["seconds"] = report.seconds;
    document["peak_memory"] = report.peakMemory;
    document["outputs"] = Value::array();
    for (const OutputRecord& output : report.outputs) document["outputs"].push(outputValue(output));
    document["resumed"] = report.resumed ? resumedValue(*report.resumed) : Value();
    document["shard"] = report.shard ? shardValue(*report.shard) : Value();
    document["notes"] = Value(report.notes);
    document["not_finite"] = report.notFinite ? notFiniteValue(*report.notFinite) : Value();
    document["verify"] = report.verify ? verificationValue(*report.verify) : Value();
    return document;
}

std::string writeReport(const Report& report) { return json::write(reportValue(report), true); }

base::Result<Report> readReport(const std::string& text, const std::string& file)
{
    const base::Result<Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    const Reader root(*document, file);
    checkEnvelope(root, "hopscope-report");
    Report report = readFields(root);
    if (!root.ok()) return base::forward(root.status());
    return report;
}

}  // namespace hopscope::schema

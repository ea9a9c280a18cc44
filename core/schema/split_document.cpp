#include <algorithm>
#include <set>

#include "schema/envelope.h"
#include "schema/names.h"
#include "schema/split.h"
#include "schema/stages.h"
#include "json/names.h"
#include "json/optional.h"

namespace hopscope::schema {

namespace {

using json::Reader;
using json::Value;
using Known = std::set<std::string>;
using Values = std::set<ir::ValueId>;

Value tensorValue(const TensorSpec& spec)
{
    Value item;
    item["value"] = ir::valueName(spec.value);
    item["name"] = spec.name.empty() ? Value() : Value(spec.name);
    item["label"] = spec.label;
    item["dtype"] = base::dtypeName(spec.dtype);
    item["shape"] = Value::array();
    for (const Dim& dim : spec.shape) item["shape"].push(std::visit([](const auto& d) { return Value(d); }, dim));
    item["row_spaces"] = Value::array();
    for (const auto& space : spec.rowSpaces) item["row_spaces"].push(json::orNull(space));
    return item;
}

Value stageValue(const SplitStage& stage)
{
    Value item;
    item["index"] = stage.index.number;
    item["destinations"] = Value(stage.destinations);
    item["inputs"] = valueNames(stage.inputs);
    item["outputs"] = valueNames(stage.outputs);
    return item;
}

Value checkpointValue(const SplitCheckpoint& checkpoint)
{
    Value item;
    item["value"] = ir::valueName(checkpoint.value);
    item["stage"] = checkpoint.stage.number;
    item["output"] = checkpoint.output;
    return item;
}

std::vector<ir::ValueId> readValues(const Reader& list, const Values& known, const char* complaint)
{
    std::vector<ir::ValueId> values;
    for (const Reader& item : list.items()) {
        values.push_back(readValue(item));
        if (item.ok() && !known.contains(values.back())) item.refuse(complaint);
    }
    return values;
}

std::vector<std::string> readNames(const Reader& list, const Known& known, const char* complaint)
{
    std::vector<std::string> names;
    for (const Reader& item : list.items()) {
        names.push_back(item.as<std::string>());
        if (item.ok() && !known.contains(names.back())) item.refuse(complaint);
    }
    return names;
}

Dim readDim(const Reader& item)
{
    if (item.value().asInt() != nullptr) return item.as<std::int64_t>();
    return item.as<std::string>();
}

std::optional<std::string> readSpace(const Reader& item, const Known& spaces)
{
    if (item.value().isNull()) return std::nullopt;
    const auto name = item.as<std::string>();
    if (item.ok() && !spaces.contains(name)) item.refuse("is not a row space");
    return name;
}

TensorSpec readTensor(const Reader& item, const Known& spaces)
{
    TensorSpec spec;
    spec.value = readValue(item.child("value"));
    spec.name = json::nullable<std::string>(item, "name").value_or("");
    spec.label = item.maybe<std::string>("label").value_or("");
    spec.dtype = json::named<base::DType>(item, "dtype");
    for (const Reader& dim : item.items("shape")) spec.shape.push_back(readDim(dim));
    for (const Reader& space : item.items("row_spaces")) spec.rowSpaces.push_back(readSpace(space, spaces));
    if (item.ok() && spec.rowSpaces.size() != spec.shape.size())
        item.child("row_spaces").refuse("must have one entry per dimension");
    return spec;
}

// Stages in order, each reading only what is there before it.
void readStages(const Reader& root, const Values& values, Split& split)
{
    const Known spaces(split.rowSpaces.begin(), split.rowSpaces.end());
    Values made(split.inputs.begin(), split.inputs.end());
    made.insert(split.prologue.begin(), split.prologue.end());
    for (const Reader& item : root.items("stages")) {
        SplitStage stage;
        stage.index = readStage(item.child("index"));
        if (item.ok() && !split.stages.empty() && stage.index <= split.stages.back().index)
            item.child("index").refuse("does not follow the stage before it");
        stage.destinations = readNames(item.child("destinations"), spaces, "is not a row space");
        stage.inputs = readValues(item.child("inputs"), made, "is not produced by an earlier stage");
        stage.outputs = readValues(item.child("outputs"), values, "is not a tensor");
        made.insert(stage.outputs.begin(), stage.outputs.end());
        split.stages.push_back(std::move(stage));
    }
}

void readCheckpoint(const Reader& item, Split& split)
{
    const SplitCheckpoint result{.value = readValue(item.child("value")),
                                 .stage = readStage(item.child("stage")),
                                 .output = item.get<bool>("output")};
    if (!item.ok()) return;
    const auto stage = std::ranges::find(split.stages, result.stage, &SplitStage::index);
    if (stage == split.stages.end()) return item.child("stage").refuse("is not a stage");
    if (std::ranges::find(stage->outputs, result.value) == stage->outputs.end())
        item.child("value").refuse("is not written by its stage");
    split.checkpoints.push_back(result);
}

Split readFields(const Reader& root)
{
    Split split;
    split.strategy = json::named<base::Strategy>(root, "strategy");
    split.hashes = readHashes(root);
    split.rowSpaces = root.get<std::vector<std::string>>("row_spaces");
    const Known spaces(split.rowSpaces.begin(), split.rowSpaces.end());
    Values values;
    for (const Reader& item : root.items("tensors")) {
        split.tensors.push_back(readTensor(item, spaces));
        if (!values.insert(split.tensors.back().value).second && item.ok())
            item.child("value").refuse("is listed twice");
    }
    split.inputs = readValues(root.child("inputs"), values, "is not a tensor");
    split.outputs = readValues(root.child("outputs"), values, "is not a tensor");
    split.prologue = readValues(root.child("prologue"), values, "is not a tensor");
    readStages(root, values, split);
    for (const Reader& item : root.items("checkpoints")) readCheckpoint(item, split);
    const Reader verification = root.child("verification");
    if (!verification.value().isNull()) split.verification = verificationFrom(verification);
    split.tool = json::nullable<std::string>(root, "tool").value_or("");
    if (const Reader code = root.child("code"); !code.value().isNull()) split.code = readCode(code);
    return split;
}

}  // namespace

std::string writeSplit(const Split& split)
{
    Value document = startDocument("hopscope-schema");
    document["strategy"] = base::nameOf(split.strategy);
    document["hashes"] = writeHashes(split.hashes);
    document["row_spaces"] = Value(split.rowSpaces);
    document["inputs"] = valueNames(split.inputs);
    document["outputs"] = valueNames(split.outputs);
    document["prologue"] = valueNames(split.prologue);
    for (const char* list : {"tensors", "stages", "checkpoints"}) document[list] = Value::array();
    for (const TensorSpec& tensor : split.tensors) document["tensors"].push(tensorValue(tensor));
    for (const SplitStage& stage : split.stages) document["stages"].push(stageValue(stage));
    for (const SplitCheckpoint& checkpoint : split.checkpoints)
        document["checkpoints"].push(checkpointValue(checkpoint));
    document["tool"] = split.tool.empty() ? Value() : Value(split.tool);
    document["code"] = split.code ? codeValue(*split.code) : Value();
    document["verification"] = split.verification ? verificationValue(*split.verification) : Value();
    return json::write(document, true);
}

base::Result<Split> readSplit(const std::string& text, const std::string& file)
{
    const base::Result<Value> document = json::parse(text, file);
    if (!document) return base::forward(document);
    const Reader root(*document, file);
    checkEnvelope(root, "hopscope-schema");
    Split split = readFields(root);
    if (!root.ok()) return base::forward(root.status());
    return split;
}

}  // namespace hopscope::schema
